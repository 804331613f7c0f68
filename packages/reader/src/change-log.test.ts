import { describe, expect, it } from "vitest";
import { ChangeLog } from "./change-log.ts";
import type { ChangeSet } from "./change-set.ts";

function changesAt(sequence: bigint): ChangeSet {
  const change = { key: "a/b", before: undefined, after: undefined, last: {} as never, lines: [] };
  const images = { leases: new Map(), candidates: new Map() };
  const nothing = { leases: [], renewedLeases: [], renewedCandidates: [] };
  return { partition: 0, sequence, appliedAtMs: 0, ...nothing, candidates: [change], images };
}

describe("the log of changes", () => {
  it("gives what came after a position as long as all of it is kept, and nothing otherwise", () => {
    const log = new ChangeLog(3);
    for (const sequence of [10n, 20n, 30n, 40n, 50n, 60n]) log.add(changesAt(sequence));
    expect(log.floor).toBe(30n);
    expect(log.after(30n)?.map(({ sequence }) => sequence)).toEqual([40n, 50n, 60n]);
    expect(log.after(55n)?.map(({ sequence }) => sequence)).toEqual([60n]);
    expect(log.after(29n)).toBeUndefined();
  });

  it("knows nothing of what was before a restart", () => {
    const log = new ChangeLog(3);
    log.add(changesAt(10n));
    log.restart(25n);
    log.add(changesAt(30n));
    expect(log.after(20n)).toBeUndefined();
    expect(log.after(25n)?.map(({ sequence }) => sequence)).toEqual([30n]);
  });
});
