import { describe, expect, it } from "vitest";
import { OpenRenewals } from "./open-renewals.ts";

describe("renewals that travel packed", () => {
  it("are grouped by partition and number, ascending, each once", () => {
    const open = new OpenRenewals<string>();
    const added = [open.add("a", 1, 9, 5n), open.add("b", 1, 3, 5n), open.add("c", 2, 3, 5n), open.add("d", 1, 9, 6n)];
    expect(added).toEqual([true, true, true, true]);
    const groups = open.pack().map(({ holdIds, partition, sendNumber }) => [partition, sendNumber, [...holdIds]]);
    expect(groups).toEqual([
      [1, 5, [3, 9]],
      [2, 5, [3]],
      [1, 6, [9]],
    ]);
    expect(open.pack()).toEqual([]);
    expect([open.take(1, 9n, 5n), open.take(1, 9, 5), open.size]).toEqual(["a", undefined, 3]);
  });

  it("leave a second one of the same term and number to be sent by name, so that both are answered", () => {
    const open = new OpenRenewals<string>();
    open.add("first", 1, 9, 5n);
    expect(open.add("second", 1, 9, 5n)).toBe(false);
    expect(open.take(1, 9, 5)).toBe("first");
  });

  it("have numbers that fit", () => {
    expect(new OpenRenewals<string>().add("a", 1, 9, 2n ** 53n)).toBe(false);
  });
});
