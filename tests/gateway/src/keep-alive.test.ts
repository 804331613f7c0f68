import { Client, type ClientDuplexStream, credentials, type ServiceError } from "@grpc/grpc-js";
import {
  durationFromMs,
  durationToMs,
  LeaseServiceDefinition,
  LeaseServiceKeepAliveRequest,
  LeaseServiceKeepAliveResponse,
  type RenewalResult,
} from "@tenure/contracts";
import { type Deployment, startDeployment, waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { key, leases, releaseOf, take } from "./requests.ts";
import { faultOf, TestSession } from "./test-session.ts";

let deployment: Deployment;
let address: string;
let client: Client;

beforeAll(async () => {
  deployment = await startDeployment();
  address = deployment.grpc("gateway-1");
  client = new Client(address, credentials.createInsecure());
}, 120_000);

afterAll(async () => {
  client?.close();
  await deployment?.[Symbol.asyncDispose]();
}, 120_000);

function keepAlive() {
  const results: RenewalResult[] = [];
  const stream: ClientDuplexStream<LeaseServiceKeepAliveRequest, LeaseServiceKeepAliveResponse> =
    client.makeBidiStreamRequest(
      "/tenure.v1.LeaseService/KeepAlive",
      (message: LeaseServiceKeepAliveRequest) => Buffer.from(LeaseServiceKeepAliveRequest.encode(message).finish()),
      (bytes: Buffer) => LeaseServiceKeepAliveResponse.decode(bytes),
    );
  const ended: { error?: ServiceError } = {};
  stream.on("data", (message: LeaseServiceKeepAliveResponse) => results.push(...message.results));
  stream.on("error", (error: ServiceError) => {
    ended.error = error;
  });
  return {
    results,
    ended,
    send: (message: Parameters<typeof LeaseServiceKeepAliveRequest.fromPartial>[0]) =>
      stream.write(LeaseServiceKeepAliveRequest.fromPartial(message)),
    end: () => stream.end(),
    [Symbol.dispose]: () => stream.cancel(),
  };
}

describe("KeepAlive", () => {
  it("renews terms by lease and token and answers each with the send number that was committed", async () => {
    using session = await TestSession.open(address, "kept");
    const names = ["kept-1", "kept-2", "kept-3"];
    const holds = [];
    for (const name of names) holds.push((await take(session, name, "h")).hold);
    using stream = keepAlive();
    stream.send({ renewals: holds.map(({ token }, at) => ({ lease: key(names[at] ?? ""), token, sendNumber: 7n })) });
    await waitFor(() => stream.results.length === 3, { describe: "three results" });
    const told = stream.results.map(({ failure, lease, renewalRevision, sendNumber, token }) => {
      return [lease?.name, token, sendNumber, renewalRevision > 0n, failure];
    });
    expect(told.toSorted()).toEqual(holds.map(({ token }, at) => [names[at], token, 7n, true, undefined]));
  });

  it("answers every renewal of a client that does not count its sends, also after it has closed its side", async () => {
    using session = await TestSession.open(address, "uncounted");
    const { hold } = await take(session, "uncounted", "h");
    using stream = keepAlive();
    const renewals = [{ lease: key("uncounted"), token: hold.token, sendNumber: 0n }];
    for (let at = 0; at < 3; at += 1) stream.send({ renewals });
    stream.end();
    await waitFor(() => stream.results.length === 3, { describe: "three results" });
    for (const { failure, renewalRevision } of stream.results) {
      expect([failure, renewalRevision > 0n]).toEqual([undefined, true]);
    }
  });

  it("lengthens a term, and refuses to shorten one that runs", async () => {
    using session = await TestSession.open(address, "duration");
    const { hold } = await take(session, "duration", "h");
    using stream = keepAlive();
    const renewal = { lease: key("duration"), token: hold.token, sendNumber: 1n };
    const present = hold.leaseDuration ?? durationFromMs(0);
    const longer = durationFromMs(durationToMs(present) + 1_000);
    stream.send({ renewals: [{ ...renewal, leaseDuration: longer }] });
    await waitFor(() => stream.results.length === 1);
    for (const leaseDuration of [present, durationFromMs(1)]) {
      stream.send({ renewals: [{ ...renewal, leaseDuration }] });
    }
    await waitFor(() => stream.results.length === 3);
    const reasons = stream.results.map(({ failure }) => failure?.detail?.reasonName);
    expect(reasons).toEqual([undefined, "TIMING_UNSAFE", "TIMING_UNSAFE"]);
    const { get } = LeaseServiceDefinition.methods;
    const { lease } = await session.call(leases, get, {
      lease: key("duration"),
      read: { consistency: 2, minRevision: 0n },
    });
    expect(lease?.holds[0]?.leaseDuration).toEqual(longer);
  });

  it("tells what is wrong with each renewal that is refused, and renews the rest", async () => {
    using session = await TestSession.open(address, "refused");
    const { release } = LeaseServiceDefinition.methods;
    const old = (await take(session, "refused", "h")).hold;
    await session.call(leases, release, releaseOf(session, "refused", old.token));
    const { hold } = await take(session, "refused", "h");
    using stream = keepAlive();
    stream.send({
      renewals: [
        { lease: key("refused"), token: hold.token, sendNumber: 3n },
        { lease: key("refused"), token: old.token, sendNumber: 3n },
        { lease: key("nobody-has-it"), token: 1n, sendNumber: 3n },
      ],
    });
    await waitFor(() => stream.results.length === 3);
    const reasons = stream.results.map(({ failure, lease, token }) => [
      lease?.name,
      token === hold.token,
      failure?.detail?.reasonName,
    ]);
    expect(reasons.toSorted()).toEqual([
      ["nobody-has-it", false, "LEASE_NOT_FOUND"],
      ["refused", false, "FENCED"],
      ["refused", true, undefined],
    ]);
  });

  it("ends with INVALID_ARGUMENT for more than 1000 renewals in a message", async () => {
    using stream = keepAlive();
    const renewals = Array.from({ length: 1_001 }, () => ({ lease: key("x"), token: 1n, sendNumber: 1n }));
    stream.send({ renewals });
    await waitFor(() => stream.ended.error !== undefined);
    expect(faultOf(stream.ended.error)).toMatchObject({ code: "INVALID_ARGUMENT", reason: "INVALID_FIELD" });
  });
});
