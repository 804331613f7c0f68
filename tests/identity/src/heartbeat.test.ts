import { createHash } from "node:crypto";
import {
  decodeRenewals,
  durationFromMs,
  encodeRenewals,
  type Identity,
  IdentityNaming,
  IdentityServiceDeregisterRequest,
  IdentityServiceRegisterRequest,
} from "@tenure/contracts";
import { type Deployment, waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startIdentityDeployment } from "./deployment.ts";
import { HeartbeatStream } from "./heartbeat-stream.ts";

const call = { principal: "anonymous", deadlineMs: 20_000 };
const validity = durationFromMs(120_000);
let deployment: Deployment;
let address: string;

beforeAll(async () => {
  deployment = await startIdentityDeployment({ identity: 1, gateway: 1 });
  address = deployment.grpc("gateway-1");
}, 120_000);

afterAll(() => deployment?.[Symbol.asyncDispose](), 120_000);

async function register(
  request: Omit<Parameters<typeof IdentityServiceRegisterRequest.fromPartial>[0], "profile">,
  profile: object = {},
): Promise<Identity> {
  const full = { component: "beating", host: "h", processId: 1, validity, ...profile };
  const message = IdentityServiceRegisterRequest.fromPartial({ ...request, profile: full });
  const { identity } = await deployment.identities.register(message, call);
  if (identity === undefined) throw new Error("no identity was answered");
  return identity;
}

describe("beats through a gateway", () => {
  it("are committed for many instances of one message, and told by name", async () => {
    using stream = new HeartbeatStream(address);
    const fleet = await Promise.all(Array.from({ length: 50 }, () => register({})));
    // The first message comes before the gateway has surely read of everyone: those are beaten for by name.
    stream.send({ beats: fleet.map(({ id, token }) => ({ id, token, sendNumber: 7n })) });
    for (const { id } of fleet) {
      expect(await stream.resultOf(id)).toMatchObject({ sendNumber: 7n, failure: undefined, collision: undefined });
    }
  });

  it("pass untouched in packed form", async () => {
    using stream = new HeartbeatStream(address);
    const { holdId, partition } = await register({});
    const packedBeats = encodeRenewals([{ partition, sendNumber: 3, holdIds: [Number(holdId)] }]);
    stream.send({ packedBeats });
    const [acks] = await waitFor(() => (stream.packedAcks.length > 0 ? stream.packedAcks : undefined));
    expect(decodeRenewals(acks ?? new Uint8Array(0))).toEqual([
      { partition, sendNumber: 3, holdIds: [Number(holdId)] },
    ]);
  });

  it("are refused with IDENTITY_NOT_FOUND after the instance has gone, and without the secret", async () => {
    using stream = new HeartbeatStream(address);
    const renewKey = new TextEncoder().encode("a secret of the instance");
    const renewKeyHash = createHash("sha256").update(renewKey).digest();
    const { id, token } = await register({ renewKeyHash });
    stream.send({ beats: [{ id, token, sendNumber: 1n }] });
    const mismatch = await stream.resultOf(id, ({ failure }) => failure !== undefined);
    expect(mismatch.failure?.detail?.reasonName).toBe("RENEW_KEY_MISMATCH");
    stream.send({ beats: [{ id, token, sendNumber: 2n }], renewKey });
    await stream.resultOf(id, ({ sendNumber }) => sendNumber === 2n);
    await deployment.identities.deregister(IdentityServiceDeregisterRequest.fromPartial({ id, renewKey, token }), call);
    stream.send({ beats: [{ id, token, sendNumber: 3n }] });
    const gone = await stream.resultOf(id, ({ failure }) => failure?.detail?.reasonName === "IDENTITY_NOT_FOUND");
    expect(gone.failure?.code).toBe(5);
  });

  it("[102] tell both processes of a collision", async () => {
    using first = new HeartbeatStream(address);
    using second = new HeartbeatStream(address);
    const claim = (instanceUid: string, processId: number) =>
      register({ instanceUid }, { component: "twin", naming: IdentityNaming.STABLE, processId });
    const one = await claim("u1", 11);
    const two = await claim("u2", 22);
    first.send({ beats: [{ id: one.id, token: one.token, sendNumber: 1n }] });
    const lost = await first.resultOf(one.id);
    expect(lost.failure?.detail?.reasonName).toBe("IDENTITY_COLLISION");
    const back = await claim("u1", 11);
    first.send({ beats: [{ id: one.id, token: back.token, sendNumber: 2n }] });
    const kept = await first.resultOf(one.id, ({ sendNumber }) => sendNumber === 2n);
    expect(kept.collision).toMatchObject({ otherHost: "h", otherProcessId: 22, changes: 1 });
    second.send({ beats: [{ id: one.id, token: two.token, sendNumber: 1n }] });
    const told = await second.resultOf(one.id);
    expect(told).toMatchObject({
      failure: { detail: { reasonName: "IDENTITY_COLLISION" } },
      collision: { changes: 1 },
    });
  });

  it("may be empty, and not too many", async () => {
    using stream = new HeartbeatStream(address);
    stream.send({});
    stream.send({ beats: Array.from({ length: 1_001 }, () => ({ id: "x", token: 1n, sendNumber: 1n })) });
    await waitFor(() => stream.error !== undefined);
    expect(stream.error).toMatchObject({ code: 3 });
  });
});
