import { describe, expect, it } from "vitest";
import { Arena } from "../testing/arena.ts";
import { defaultElectionTiming } from "./view.ts";

const { answerBoundMs } = defaultElectionTiming;

describe("an election for a lease that nobody holds", () => {
  it("statement 51: a lease without a candidate is never written", () => {
    const arena = new Arena();
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, outcome: "nobody", lookAgainMs: 30_000 });
    arena.create();
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, outcome: "nobody" });
  });

  it("statement 52: a candidate with a live stream is elected at once and the lease created, with its strategy", () => {
    const arena = new Arena();
    arena.join("a");
    expect(arena.decide()).toMatchObject({
      action: { kind: "elect", candidate: "a", expectedRevision: 0n, strategy: { kind: "oldestCompatibilityVersion" } },
      outcome: "elected",
      trigger: "vacant",
      winner: "a",
      reason: "a is elected: no other candidate has answered",
    });
    arena.step();
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, outcome: "elected", lookAgainMs: 2_000 });
    arena.act();
    expect(arena.holder).toBe("a");
    expect(arena.record.strategy).toMatchObject({
      source: "consensus",
      strategy: { kind: "oldestCompatibilityVersion" },
    });
  });

  it("statement 53: an election gives a new acquire time and one transition more", () => {
    const arena = new Arena();
    arena.join("a");
    arena.step();
    arena.act();
    arena.release();
    const before = arena.record.transitions;
    arena.pass(1_000);
    arena.step();
    arena.act();
    expect(arena.record.transitions).toBe(before + 1);
    expect(arena.record.holds[0]?.granted.wallMs).toBe(arena.desk.wallMs);
  });

  it("statement 54: a candidate that only registered is asked before anyone is elected", () => {
    const arena = new Arena();
    arena.join("a", {}, { life: "answering" });
    expect(arena.step()).toMatchObject({ action: { kind: "ping", candidates: ["a"] }, outcome: "pinged" });
    expect(arena.record.created).toBeUndefined();
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, outcome: "pinged", lookAgainMs: answerBoundMs });
  });

  it("statement 55: the election happens at the answer, not at the end of the bound", () => {
    const arena = new Arena();
    arena.join("a", {}, { life: "answering" });
    arena.step();
    arena.pass(10);
    arena.act();
    expect(arena.decide()).toMatchObject({ action: { kind: "elect", candidate: "a" } });
  });

  it("statement 56: of two that were asked, the one that answers is elected when the other's time is over", () => {
    const arena = new Arena();
    arena.join("a", { compatibilityVersion: "1.19.0" }, { life: "dead" });
    arena.join("b", {}, { life: "answering" });
    expect(arena.step()).toMatchObject({ action: { candidates: ["a", "b"] } });
    arena.act();
    arena.pass(answerBoundMs - 1);
    expect(arena.decide()).toMatchObject({
      action: { kind: "none" },
      reason: "waits for the answer of a",
      lookAgainMs: 1,
    });
    arena.pass(1);
    expect(arena.decide()).toMatchObject({ action: { kind: "elect", candidate: "b" } });
    expect(
      arena.decide().ranking.map(({ answer, candidate, exclusion }) => [candidate.name, answer, exclusion]),
    ).toEqual([
      ["b", "ping", undefined],
      ["a", "silent", "silent"],
    ]);
  });

  it("those who answered at once are not asked again when the decision comes a little late", () => {
    const arena = new Arena();
    arena.join("a", { compatibilityVersion: "1.19.0" }, { life: "dead" });
    arena.join("b", {}, { life: "answering" });
    arena.step();
    arena.act();
    arena.pass(answerBoundMs + 1_500);
    expect(arena.decide()).toMatchObject({ action: { kind: "elect", candidate: "b" } });
  });

  it("does not wait for a candidate that would come after one that has answered", () => {
    const arena = new Arena();
    arena.join("a", { compatibilityVersion: "1.19.0" });
    arena.join("b", {}, { life: "dead" });
    expect(arena.decide()).toMatchObject({ action: { kind: "elect", candidate: "a" } });
  });

  it("statement 57: a silent candidate is not asked again and does not block a later election", () => {
    const arena = new Arena();
    arena.join("a", { compatibilityVersion: "1.19.0" }, { life: "dead" });
    arena.join("b", {}, { life: "answering" });
    arena.step();
    arena.act();
    arena.pass(answerBoundMs);
    arena.step();
    arena.act();
    arena.pass(60_000);
    arena.release();
    expect(arena.step()).toMatchObject({ action: { kind: "ping", candidates: ["b"] } });
    arena.act();
    expect(arena.decide()).toMatchObject({ action: { kind: "elect", candidate: "b" } });
  });

  it("one that was silent and renews is asked again", () => {
    const arena = new Arena();
    arena.join("a", {}, { life: "dead" });
    arena.step();
    arena.pass(answerBoundMs + 1);
    expect(arena.decide()).toMatchObject({ outcome: "nobody", reason: "no candidate answers" });
    arena.join("a", {}, { life: "answering" });
    expect(arena.step()).toMatchObject({ action: { kind: "ping", candidates: ["a"] } });
  });

  it("statement 58: an answer counts for the bound; after that its candidate is asked anew", () => {
    const arena = new Arena();
    arena.join("a", {}, { life: "answering" });
    arena.step();
    arena.pass(4_000);
    arena.act();
    arena.pass(answerBoundMs);
    expect(arena.decide()).toMatchObject({ action: { kind: "elect" } });
    arena.pass(1);
    expect(arena.decide()).toMatchObject({ action: { kind: "ping", candidates: ["a"] } });
  });

  it("statement 59: when nobody answers the election is tried again by timer, later and later", () => {
    const arena = new Arena();
    arena.join("a", {}, { life: "dead" });
    const askedAtMs: number[] = [];
    for (let look = 0; look < 200 && askedAtMs.length < 6; look++) {
      const decision = arena.step();
      if (decision.action.kind === "ping") askedAtMs.push(arena.desk.now);
      arena.pass(decision.action.kind === "none" ? decision.lookAgainMs : 1);
    }
    const gaps = askedAtMs.slice(1).map((at, place) => at - (askedAtMs[place] ?? 0));
    expect(gaps).toEqual([10_000, 20_000, 40_000, 60_000, 60_000]);
    arena.alive.add("a");
    arena.act();
    expect(arena.decide()).toMatchObject({ action: { kind: "elect", candidate: "a" } });
  });

  it("statement 60: only the number of a ping is compared, so a wrong wall clock changes no decision", () => {
    const arena = new Arena();
    arena.join("a", {}, { life: "answering" });
    arena.step();
    arena.desk.wallMs -= 3_600_000;
    arena.act();
    expect(arena.decide()).toMatchObject({ action: { kind: "elect", candidate: "a" } });
    expect(arena.commands).toEqual(["pingCandidates"]);
  });

  it("statement 61: a candidate counts for exactly its validity", () => {
    const arena = new Arena();
    arena.join("a", { validityMs: 10_000 });
    arena.pass(10_000);
    expect(arena.decide()).toMatchObject({ action: { kind: "elect" }, lookAgainMs: 1 });
    arena.pass(1);
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, outcome: "nobody" });
  });

  it("statement 77: after a release or a deletion the election follows without waiting for an expiry", () => {
    const arena = new Arena();
    arena.join("a");
    arena.step();
    arena.act();
    arena.release();
    expect(arena.decide()).toMatchObject({ action: { kind: "elect", candidate: "a" }, trigger: "released" });
    arena.step();
    arena.act();
    arena.desk.run({ kind: "delete", lease: arena.lease, expectedRevision: undefined, expectedUid: undefined }, "op");
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, outcome: "kept" });
    arena.release();
    expect(arena.step()).toMatchObject({ action: { kind: "elect", candidate: "a", expectedRevision: 0n } });
  });

  it("statement 78: after an expiry the same holder gets a fresh term if it is there", () => {
    const arena = new Arena();
    arena.join("a");
    arena.step();
    arena.act();
    const first = arena.record.lastToken;
    arena.alive.delete("a");
    arena.pass(15_000);
    expect(arena.holder).toBe("");
    arena.alive.add("a");
    expect(arena.step()).toMatchObject({ action: { kind: "elect", candidate: "a" }, trigger: "expired" });
    arena.act();
    expect(arena.record.holds[0]?.token).toBeGreaterThan(first);
  });

  it("nobody waits for a former holder whose own term ran out: it was silent for longer than a ping would wait", () => {
    const arena = new Arena();
    arena.join("a", { compatibilityVersion: "1.19.0" });
    arena.join("b");
    arena.step();
    arena.act();
    expect(arena.holder).toBe("a");
    arena.crash("a");
    arena.pass(15_000);
    expect(arena.decide()).toMatchObject({ action: { kind: "elect", candidate: "b" } });
    arena.crash("b");
    expect(arena.step()).toMatchObject({ action: { kind: "ping", candidates: ["b"] } });
    arena.pass(5_000);
    expect(arena.decide(), "when nobody else is left it is asked after all").toMatchObject({
      action: { kind: "ping", candidates: ["a"] },
    });
  });

  it("nor for any of those that crashed one after the other, unless it has shown life since", () => {
    const arena = new Arena();
    arena.join("a", { compatibilityVersion: "1.18.0" });
    arena.join("b", { compatibilityVersion: "1.19.0" });
    arena.join("c");
    for (const name of ["a", "b"]) {
      arena.step();
      arena.act();
      expect(arena.holder).toBe(name);
      arena.crash(name);
      arena.pass(15_000);
    }
    expect(arena.decide()).toMatchObject({ action: { kind: "elect", candidate: "c" } });
    arena.join("a", { compatibilityVersion: "1.18.0" }, { life: "answering" });
    expect(arena.decide()).toMatchObject({ action: { kind: "ping", candidates: ["a"] } });
  });

  it("statement 79: a lease with nothing in it is elected for like any other", () => {
    const arena = new Arena();
    arena.create();
    arena.join("a");
    expect(arena.step()).toMatchObject({ action: { kind: "elect", candidate: "a" } });
  });

  it("statement 84: when a legacy holder stops, a candidate is elected", () => {
    const arena = new Arena();
    arena.desk.take("legacy", arena.lease);
    arena.join("a");
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, outcome: "foreignHolder" });
    arena.pass(15_000);
    expect(arena.step()).toMatchObject({ action: { kind: "elect", candidate: "a" }, trigger: "expired" });
  });

  it("statement 91: another coordinator finishes a round from the record alone", () => {
    const arena = new Arena();
    arena.join("a", { compatibilityVersion: "1.19.0" }, { life: "dead" });
    arena.join("b", {}, { life: "answering" });
    arena.step();
    arena.act();
    arena.pass(2_000);
    const waiting = arena.decide();
    expect(waiting).toMatchObject({ action: { kind: "none" }, lookAgainMs: 3_000 });
    arena.pass(3_000);
    expect(arena.step()).toMatchObject({ action: { kind: "elect", candidate: "b" } });
    expect(arena.commands).toEqual(["pingCandidates", "elect"]);
  });

  it("statement 91: one that starts from a snapshot does not take an old answer for a new one", () => {
    const arena = new Arena();
    arena.join("a", {}, { life: "answering" });
    arena.step();
    arena.act();
    arena.pass(3_600_000 / 4);
    arena.desk.restart();
    arena.followedSinceMs = arena.desk.now;
    expect(arena.decide()).toMatchObject({ action: { kind: "ping", candidates: ["a"] } });
  });

  it("statement 91: a coordinator that is replaced at any step, with the owner, finishes the hand-over", () => {
    for (let lost = 0; lost < 8; lost++) {
      const arena = new Arena();
      arena.join("a", {}, { life: "answering" });
      arena.settle();
      arena.join("b", { compatibilityVersion: "1.19.0" }, { life: "answering" });
      for (let step = 0; step < lost; step++) {
        if (step % 2 === 0) arena.step();
        else arena.act();
      }
      arena.desk.restart();
      arena.followedSinceMs = arena.desk.now;
      arena.pass(1_000);
      arena.settle();
      expect(arena.holder).toBe("b");
    }
  });

  it("waits for the lock delay of a term that ran out", () => {
    const arena = new Arena();
    arena.create({ lockDelayMs: 4_000 });
    arena.join("a");
    arena.step();
    arena.act();
    arena.alive.delete("a");
    arena.pass(15_000);
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, expectedLeader: "a", lookAgainMs: 4_000 });
    arena.pass(4_000);
    expect(arena.decide()).toMatchObject({ action: { kind: "elect", candidate: "a" } });
  });

  it("rule 18: one that does not accept is passed over, the next is elected, and it sits out its back-off", () => {
    const arena = new Arena();
    arena.join("a", { compatibilityVersion: "1.19.0" });
    arena.join("b");
    arena.stubborn.add("a");
    arena.step();
    arena.desk.advance(2_000);
    const decision = arena.decide();
    expect(decision).toMatchObject({ action: { kind: "elect", candidate: "b" }, trigger: "notAccepted" });
    expect(decision.ranking[1]).toMatchObject({ rank: 0, exclusion: "missedAccept" });
    arena.step();
    expect(arena.record.pending?.candidate).toBe("b");
    expect(arena.decide().ranking[1]?.reason).toBe("did not accept (1 in a row) and sits out another 2s");
  });

  it.each([
    ["cordoned", (arena: Arena) => arena.setCordon("a", true), "is cordoned by op: "],
    [
      "unhealthy",
      (arena: Arena) => arena.join("a", { isHealthy: false, healthNote: "disk" }),
      "says that it is unhealthy: disk",
    ],
    ["never", (arena: Arena) => arena.join("a", { preference: "never" }), "says that it never wants to lead"],
  ] as const)("does not elect one that is %s, and says so", (exclusion, change, reason) => {
    const arena = new Arena();
    arena.join("a");
    change(arena);
    expect(arena.decide()).toMatchObject({
      action: { kind: "none" },
      outcome: "nobody",
      ranking: [{ exclusion, reason, rank: 0 }],
    });
    arena.join("b");
    expect(arena.decide()).toMatchObject({ action: { kind: "elect", candidate: "b" } });
  });

  it("a migration lock is given only to components that may hold it (rule 24)", () => {
    const arena = new Arena();
    const configurationDigest = "ab";
    const eligibility = { configuration: "m", configurationDigest, components: [{ name: "ccm", versionRange: "" }] };
    const body = { kind: "putMigration", lease: arena.lease, expectedRevision: undefined } as const;
    arena.desk.run({ ...body, configuration: new Uint8Array([1]), eligibility }, "op");
    arena.join("a", { participant: { component: "kcm", version: "1.0.0", configurationDigest } });
    arena.join("b", { participant: { component: "ccm", version: "1.0.0", configurationDigest } });
    expect(arena.step()).toMatchObject({ action: { kind: "elect", candidate: "b" } });
    expect(arena.decide().ranking[1]).toMatchObject({ exclusion: "notEligible" });
  });

  it("a named successor that answers goes before better ones, and is passed over if it does not", () => {
    const arena = new Arena();
    arena.join("a");
    arena.step();
    arena.act();
    arena.join("b", { compatibilityVersion: "1.20.0", binaryVersion: "1.21.0" });
    const token = arena.record.holds[0]?.token ?? 0n;
    const expectedRevision = arena.record.revision.sequence;
    const mark = { kind: "markEndOfTerm", lease: arena.lease, expectedRevision, token, preferredHolder: "b" } as const;
    arena.desk.run(mark, "op");
    arena.release();
    expect(arena.decide()).toMatchObject({
      action: { kind: "elect", candidate: "b" },
      reason: "b is elected: it was named to follow",
    });
    arena.withdraw("b");
    expect(arena.decide()).toMatchObject({ action: { kind: "elect", candidate: "a" } });
  });
});
