import { Identity, type IdentityServiceRegisterRequest } from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { TenureError } from "../errors.ts";
import { leaseNameOf } from "../term/lease-name.ts";
import { refusal, ScriptedSession, unavailable } from "../testing/scripted-session.ts";
import type { IdentityOptions } from "./identity-options.ts";
import { type IdentityNews, OwnIdentity } from "./own-identity.ts";

/** A registration on a scripted session, whose service takes everything unless told otherwise. */
function start(options: Partial<IdentityOptions> = {}, failure?: TenureError) {
  const session = new ScriptedSession();
  const news: IdentityNews[] = [];
  let token = 40n;
  session.answer = async ({ method, request }) => {
    if (method !== "IdentityService.Register") return { removed: true, revision: 1n };
    const { id, profile } = request as IdentityServiceRegisterRequest;
    token += 1n;
    return {
      identity: Identity.fromPartial({ id, profile: { ...profile }, token, holdId: token, partition: 3 } as never),
    };
  };
  const taking = session.answer;
  if (failure !== undefined) session.answer = () => Promise.reject(failure);
  const onChange = (one: IdentityNews) => void news.push(one);
  const identity = new OwnIdentity(session, { component: "worker", host: "h", onChange, ...options }, (input) =>
    leaseNameOf(input, "tests"),
  );
  const registrations = () =>
    session.asked
      .filter(({ method }) => method === "IdentityService.Register")
      .map(({ request }) => request as IdentityServiceRegisterRequest);
  return { session, news, identity, registrations, taking };
}

/** Lets what has been answered take its course. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

describe("a client's own identity", () => {
  it("registers at once under a fresh id, and beats a little earlier than asked for", async () => {
    const { identity, news, session } = start({
      beatInterval: "1s",
      dependents: ["x", { lease: "n/y", candidate: "c" }],
    });
    const record = await identity.registered();
    expect(record.id).toBe(identity.id);
    expect(identity.id).toMatch(new RegExp(`^h-${process.pid}-[1-9a-z]{6}$`));
    expect(news).toMatchObject([{ kind: "registered", id: identity.id }]);
    const { hold } = session.lastKept;
    expect(hold).toMatchObject({ lease: { namespace: "tenure-identities", name: identity.id }, token: record.token });
    expect(hold.renewIntervalMs).toBeGreaterThanOrEqual(900);
    expect(hold.renewIntervalMs).toBeLessThanOrEqual(1_000);
    expect(record.profile?.dependents.map(({ subject }) => subject)).toEqual([
      { $case: "lease", value: { namespace: "tests", name: "x" } },
      { $case: "candidate", value: { lease: { namespace: "n", name: "y" }, name: "c" } },
    ]);
    await identity[Symbol.asyncDispose]();
  });

  it("registers again when its record was collected, under the same id", async () => {
    const { identity, news, registrations, session } = start();
    const first = await identity.registered();
    await session.clock.advance(60_000);
    session.lastKept.listener.onRefused(refusal("TERM_EXPIRED"));
    await settle();
    const second = await identity.registered();
    expect(second.id).toBe(first.id);
    expect(second.token).toBeGreaterThan(first.token);
    expect(session.kept[0]?.isDisposed).toBe(true);
    expect(registrations()).toHaveLength(2);
    expect(registrations()[0]?.instanceUid).toBe(registrations()[1]?.instanceUid);
    expect(news.map(({ kind }) => kind)).toEqual(["registered", "lost", "registered"]);
    await identity[Symbol.asyncDispose]();
  });

  it("[101] goes on trying while the service is away, ever more slowly up to 7 s", async () => {
    const { identity, news, session, taking } = start({}, unavailable());
    for (let round = 0; round < 8; round += 1) {
      await settle();
      await session.clock.advance(7_000);
    }
    session.answer = taking;
    await settle();
    await session.clock.advance(7_000);
    await identity.registered();
    const pauses = news.flatMap((one) => (one.kind === "retrying" ? [one.retryInMs] : []));
    expect(pauses.length).toBeGreaterThan(3);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(7_000);
    await identity[Symbol.asyncDispose]();
  });

  it("says so when the service will never take it, and stops", async () => {
    const wrong = new TenureError({ code: "INVALID_ARGUMENT", reason: "INVALID_FIELD", message: "x" });
    const { identity, news, registrations } = start({}, wrong);
    await expect(identity.registered()).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(news.map(({ kind }) => kind)).toEqual(["refused"]);
    expect(registrations()).toHaveLength(1);
    await identity[Symbol.asyncDispose]();
  });

  it("takes another fresh id if its own is another's, and keeps a stable one", async () => {
    for (const naming of ["fresh", "stable"] as const) {
      const { identity, registrations, session, taking } = start({ naming }, refusal("IDENTITY_COLLISION"));
      await settle();
      session.answer = taking;
      await session.clock.advance(1_000);
      await identity.registered();
      const ids = new Set(registrations().map(({ id }) => id));
      expect(ids.size).toBe(naming === "fresh" ? 2 : 1);
      await identity[Symbol.asyncDispose]();
    }
  });

  it("[102] tells of a collision", async () => {
    const { identity, news, session } = start({ naming: "stable" });
    const answer = session.answer;
    await identity.registered();
    session.answer = async (asked) => {
      const { identity: record } = (await answer(asked)) as { identity: Identity };
      return {
        identity: { ...record, collision: { otherHost: "h", otherProcessId: 9, changes: 1, seenAt: undefined } },
      };
    };
    session.lastKept.listener.onRefused(refusal("FENCED"));
    await settle();
    // What it has just claimed it does not claim back in a hurry: the other would do the same.
    expect(news.at(-1)).toMatchObject({ kind: "lost" });
    await session.clock.advance(400);
    await settle();
    expect(news.at(-1)).toMatchObject({ kind: "collision", collision: { otherProcessId: 9, changes: 1 } });
    await identity[Symbol.asyncDispose]();
  });

  it("[96] leaves when it is closed, once, and beats no more", async () => {
    const { identity, session } = start();
    const { id, token } = await identity.registered();
    await identity[Symbol.asyncDispose]();
    await identity[Symbol.asyncDispose]();
    const left = session.asked.filter(({ method }) => method === "IdentityService.Deregister");
    expect(left).toMatchObject([{ request: { id, token } }]);
    expect(session.lastKept.isDisposed).toBe(true);
    await expect(identity.registered()).rejects.toMatchObject({ reason: "SESSION_CLOSED" });
  });
});
