import { expect, it } from "vitest";
import { takePlace } from "./open-watches.ts";

it("lets no more watch at once than may, and the next as soon as one has gone", () => {
  const open = { count: 0 };
  const first = takePlace(open, 2);
  takePlace(open, 2);
  expect(() => takePlace(open, 2)).toThrow(expect.objectContaining({ code: "RESOURCE_EXHAUSTED" }));
  first[Symbol.dispose]();
  takePlace(open, 2);
  expect(open.count).toBe(2);
});
