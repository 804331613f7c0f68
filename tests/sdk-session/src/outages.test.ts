import { LeaseServiceGetRequest, LeaseServiceWatchRequest } from "@tenure/contracts";
import type { Session, SessionState } from "@tenure/sdk/session";
import { waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claimOf, keptOf, Notes, only } from "./claims.ts";
import { type SessionDeployment, startSessionDeployment, ways } from "./deployment.ts";

let deployment: SessionDeployment;

beforeAll(async () => {
  deployment = await startSessionDeployment(2);
}, 180_000);

afterAll(async () => {
  await deployment?.[Symbol.asyncDispose]();
});

const longMs = 120_000;

describe.each(ways)("a session over %s", (way) => {
  it("survives a restart of NATS: terms go on, waits and changes find their way, streams end retryably", async () => {
    await using session = await deployment.open(way);
    await using other = await deployment.open(way);
    const states: SessionState[] = [];
    other.onState((state) => states.push(state));
    const granted = only(await session.claim(claimOf("a", [`${way}-kept`], longMs)));
    const notes = new Notes();
    using keeping = session.keep(keptOf(granted), notes);
    const waiting = other.claim(claimOf("b", [`${way}-kept`], longMs), { waitMs: "forever" });
    const stream = watch(session, `${way}-kept`);
    await stream.next();
    await waitFor(() => hasWaiters(session, `${way}-kept`), { describe: "the claim to wait" });
    const broken = drain(stream).catch((error) => error);

    await deployment.nats.kill9();
    await waitFor(() => notes.missed.length > 0, { describe: "a missed renewal", timeoutMs: 30_000 });
    const change = session.claim(claimOf("c", [`${way}-meanwhile`], longMs), { timeoutMs: 60_000 });
    const atOutageMs = keeping.provenAtMs;
    await deployment.nats.restart();

    await waitFor(() => keeping.provenAtMs > atOutageMs, { describe: "a renewal after it", timeoutMs: 60_000 });
    expect(notes.refused).toEqual([]);
    expect(only(await change).grant.hold?.holder).toBe("c");
    const { lease, token } = keptOf(granted);
    await session.release([{ lease, token }], { timeoutMs: 60_000 });
    const next = only(await waiting);
    expect(next.grant.hold).toMatchObject({ holder: "b" });
    expect(next.sentAtMs).toBeGreaterThan(atOutageMs);
    // Through a gateway session and stream may have stayed up; straight on NATS they cannot have.
    if (way === "grpc") return;
    expect(states).toEqual(expect.arrayContaining(["reconnecting", "connected"]));
    expect(await broken).toMatchObject({ name: "TenureError", code: "UNAVAILABLE", retryable: true });
  }, 180_000);

  it("finds the next owner when one is killed: renewals, waits and changes go on with the same attempts", async () => {
    await using session = await deployment.open(way);
    await using other = await deployment.open(way);
    const names = Array.from({ length: 16 }, (_, index) => `${way}-${index}`);
    const granted = await Promise.all(names.map((name) => session.claim(claimOf("a", [name], longMs)).then(only)));
    const notes = granted.map(() => new Notes());
    const keepings = granted.map((one, index) => session.keep(keptOf(one), notes[index] ?? new Notes()));
    const waits = names.map((name) => other.claim(claimOf("b", [name], longMs), { waitMs: "forever" }).then(only));
    for (const name of names) await waitFor(() => hasWaiters(session, name), { describe: `a wait for ${name}` });

    await deployment.kill("store-1");
    const sinceMs = session.clock.now();
    await waitFor(() => keepings.every(({ provenAtMs }) => provenAtMs > sinceMs), {
      describe: "every term to be renewed at its new owner",
      timeoutMs: 60_000,
    });
    expect(notes.flatMap(({ refused }) => refused)).toEqual([]);
    const items = granted.map(keptOf).map(({ lease, token }) => ({ lease, token }));
    for (const item of items) expect(await session.release([item])).toMatchObject({ released: [true] });
    const followers = await Promise.all(waits);
    expect(followers.map(({ grant }) => grant.hold?.holder)).toEqual(names.map(() => "b"));
    for (const keeping of keepings) keeping[Symbol.dispose]();
    await deployment.start("lease-store", "store-1");
    await deployment.ready();
  }, 180_000);
});

describe("a session over grpc", () => {
  it("moves to another gateway: terms and waits go on, and a change under way has one effect", async () => {
    await using session = await deployment.open("grpc");
    await using other = await deployment.open("grpc");
    const states: SessionState[] = [];
    session.onState((state) => states.push(state));
    const granted = only(await session.claim(claimOf("a", ["moved"], longMs)));
    const notes = new Notes();
    using keeping = session.keep(keptOf(granted), notes);
    const waiting = other.claim(claimOf("b", ["moved"], longMs), { waitMs: "forever" });
    await waitFor(() => hasWaiters(session, "moved"), { describe: "the claim to wait" });

    await deployment.process("gateway-1").kill9();
    const change = session.claim(claimOf("c", ["moved-meanwhile"], longMs), { timeoutMs: 60_000 });
    const killedAtMs = session.clock.now();
    await deployment.start("gateway", "gateway-1");
    await waitFor(() => keeping.provenAtMs > killedAtMs, { describe: "a renewal after it", timeoutMs: 60_000 });
    expect(only(await change).grant.hold?.holder).toBe("c");
    expect(states).toEqual(expect.arrayContaining(["reconnecting", "connected"]));
    expect(notes.refused).toEqual([]);
    const { lease, token } = keptOf(granted);
    await session.release([{ lease, token }]);
    expect(only(await waiting).grant.hold?.holder).toBe("b");
  }, 180_000);
});

it.each(ways)("a session over %s that finds nobody says so within its bound", async (way) => {
  await Promise.all([deployment.process("gateway-1").kill9(), deployment.nats.kill9()]);
  const opening = deployment.open(way, { connectTimeoutMs: 500 });
  await expect(opening).rejects.toMatchObject({ name: "TenureError", code: "UNAVAILABLE", retryable: true });
  const stop = new AbortController();
  const aborted = deployment.open(way, { signal: stop.signal });
  stop.abort();
  await expect(aborted).rejects.toMatchObject({ name: "TenureError", code: "CANCELLED" });
});

async function hasWaiters(session: Session, name: string): Promise<boolean> {
  const request = LeaseServiceGetRequest.create({ lease: { namespace: "tests", name }, read: { consistency: 2 } });
  const { lease } = await session.call("LeaseService.Get", request);
  return (lease?.waiters ?? 0) > 0;
}

function watch(session: Session, name: string): AsyncIterator<unknown> {
  const request = LeaseServiceWatchRequest.create({ selectors: [{ namespace: "tests", name }] });
  return session.stream("LeaseService.Watch", request)[Symbol.asyncIterator]();
}

/** Reads to the end, or to the failure. */
async function drain(stream: AsyncIterator<unknown>): Promise<void> {
  for (let next = await stream.next(); !next.done; next = await stream.next());
}
