import { describe, expect, it } from "vitest";
import { execute } from "../execute.ts";
import { openSequence } from "../record/position.ts";
import { takeSnapshot } from "../snapshot/take.ts";
import { claimOf, Desk } from "../testing/desk.ts";
import { commitBatch, openBatch } from "./batch.ts";

const lease = "billing/scheduler";

describe("a batch", () => {
  it("has no revision before its commit, and then one for all that it touched", () => {
    const desk = new Desk();
    openBatch(desk.owned, desk.now, desk.wallMs);
    const reply = execute(desk.owned, claimOf("a", lease), desk.now);
    const position = reply.kind === "granted" ? reply.position : undefined;
    expect(position?.sequence).toBe(openSequence);
    commitBatch(desk.owned, 5_000n, "id");
    expect(position?.sequence).toBe(5_000n);
    const record = desk.record(lease);
    expect([record.revision, record.created, record.holds[0]?.granted]).toEqual([position, position, position]);
  });

  it("counts for judging from when its last command arrived, never earlier", () => {
    const desk = new Desk();
    openBatch(desk.owned, desk.now, desk.wallMs);
    execute(desk.owned, claimOf("a", lease), desk.now + 1);
    execute(desk.owned, claimOf("b", "billing/other"), desk.now + 20);
    commitBatch(desk.owned, 5_000n, "id");
    expect(desk.record(lease).holds[0]?.renewal.seenAtMs).toBe(desk.now + 20);
  });

  it("cannot be opened over one that is open, committed backwards, or taken into a snapshot", () => {
    const desk = new Desk();
    openBatch(desk.owned, desk.now, desk.wallMs);
    openBatch(desk.owned, desk.now, desk.wallMs);
    execute(desk.owned, claimOf("a", lease), desk.now);
    expect(() => openBatch(desk.owned, desk.now, desk.wallMs)).toThrow("has an open batch of 2 events");
    expect(() => takeSnapshot(desk.state)).toThrow("has an open batch");
    expect(() => commitBatch(desk.owned, desk.sequence, "id")).toThrow("is not after");
  });
});
