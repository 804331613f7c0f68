import { createHash } from "node:crypto";
import { type Bus, createClient } from "@tenure/bus";
import {
  CandidateServiceGetResponse,
  Decision,
  type Lease,
  LeaseServiceAcquireResponse,
  LeaseServiceGetResponse,
  StoreServiceDefinition,
  StoreServiceElectRequest,
} from "@tenure/contracts";
import { Fault } from "@tenure/kernel";
import type { Carrier } from "./carriers.ts";
import { encode, type Request } from "./request.ts";
import { methods } from "./schema.ts";

/** The name of a lease in the JSON form of protobuf. */
export type LeaseName = { readonly namespace: string; readonly name: string };

/** Records for the requests of one method to be about. All stand in one partition. */
export interface World {
  /** A name that nobody took. */
  readonly free: LeaseName;
  /** A lease that is held with a secret, and has a guarded value `k`. */
  readonly held: LeaseName;
  readonly token: bigint;
  readonly renewKey: string;
  readonly revision: bigint;
  readonly partition: number;
  /** The token of another lease's term. */
  readonly foreignToken: bigint;
  /** A lease with a candidate `c` that nobody chose. */
  readonly stood: LeaseName;
  readonly candidateRevision: bigint;
  /** A lease with a candidate `c` that was chosen and has not accepted. */
  readonly pending: LeaseName;
  readonly pendingToken: bigint;
}

const secret = Buffer.from("a secret of the holder");

/** What a candidate must say about itself. */
export const candidateSpec = {
  binary_version: "1.2.0",
  compatibility_version: "1.1.0",
  strategy: { kind: "STRATEGY_KIND_OLDEST_COMPATIBILITY_VERSION" },
};

/** Makes the records under a routing part of their own. */
export async function makeWorld(carrier: Carrier, bus: Bus, part: string): Promise<World> {
  const named = (name: string): LeaseName => ({ namespace: "input", name: `${part}:${name}` });
  const held = named("held");
  const renewKeyHash = createHash("sha256").update(secret).digest("base64");
  const hold = await take(carrier, held, { holder: "h", renew_key_hash: renewKeyHash });
  const foreign = await take(carrier, named("other"), { holder: "h" });
  const fence = { lease: held, token: String(hold.token), renew_key: secret.toString("base64") };
  await send(carrier, "GuardService.Put", { fence, key: "k", value: "AA==" });
  const stood = named("stood");
  const pending = named("pending");
  for (const lease of [stood, pending]) {
    await send(carrier, "LeaseService.Create", { lease });
    await send(carrier, "CandidateService.Register", { candidate: { lease, name: "c" }, spec: candidateSpec });
  }
  const chosen = await choose(carrier, bus, pending);
  const candidate = await send(carrier, "CandidateService.Get", { candidate: { lease: stood, name: "c" } });
  return {
    free: named("free"),
    held,
    token: hold.token,
    renewKey: fence.renew_key,
    revision: (await recordOf(carrier, held)).revision,
    partition: hold.partition,
    foreignToken: foreign.token,
    stood,
    candidateRevision: revisionIn(candidate),
    pending,
    pendingToken: chosen,
  };
}

/** Sends a request that must succeed. */
export async function send(carrier: Carrier, name: string, request: Request): Promise<Uint8Array> {
  const method = methods.find((one) => one.name === name);
  if (method === undefined) throw new Error(`the API has no ${name}`);
  const answer = await carrier.call(method, encode(method, request));
  if (answer instanceof Fault) throw answer;
  return answer;
}

/** The record of a lease as its owner has it now. */
export async function recordOf(carrier: Carrier, lease: LeaseName): Promise<Lease> {
  const answer = await send(carrier, "LeaseService.Get", {
    lease,
    read: { consistency: "READ_CONSISTENCY_LINEARIZABLE" },
  });
  const { lease: record } = LeaseServiceGetResponse.decode(answer);
  if (record === undefined) throw new Error(`no record of ${lease.name}`);
  return record;
}

async function take(carrier: Carrier, lease: LeaseName, claimant: Request) {
  // So long that no term ends while the table is tried.
  const timing = { lease_duration: "3600s", usable_term: "600s", renew_interval: "60s", request_timeout: "60s" };
  const answer = await send(carrier, "LeaseService.Acquire", {
    claims: [{ lease }],
    claimant: { ...claimant, timing },
  });
  const hold = LeaseServiceAcquireResponse.decode(answer).grants[0]?.hold;
  if (hold === undefined) throw new Error(`${lease.name} was not granted`);
  return hold;
}

async function choose(carrier: Carrier, bus: Bus, lease: LeaseName): Promise<bigint> {
  const { revision } = await recordOf(carrier, lease);
  const request = StoreServiceElectRequest.fromPartial({
    attempt: { clientId: lease.name.replaceAll(":", "-"), number: 1n },
    lease,
    expectedRevision: revision,
    candidate: "c",
    coordinator: "test",
    decision: Decision.fromPartial({ id: "chosen" }),
    acceptWindow: { seconds: 600n, nanos: 0 },
  });
  const answer = await createClient(bus, StoreServiceDefinition, { principal: "test" }).elect(request);
  return answer.lease?.pending?.token ?? 0n;
}

function revisionIn(answer: Uint8Array): bigint {
  return CandidateServiceGetResponse.decode(answer).candidate?.revision ?? 0n;
}
