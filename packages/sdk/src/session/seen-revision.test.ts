import { describe, expect, it } from "vitest";
import { SeenRevision } from "./seen-revision.ts";

describe("SeenRevision", () => {
  it.each([
    ["a read", { revision: 9n }],
    ["a list", { leases: [{ revision: 99n }], page: { revision: 9n } }],
    ["a watch", { events: [], position: { revision: 9n } }],
    ["a changed lease", { lease: { revision: 9n } }],
    ["grants", { grants: [{ revision: 8n }, { revision: 9n }] }],
    ["a refusal", { revision: 9n, holder: "h" }],
  ])("is what %s shows, and never goes back", (_, message) => {
    const seen = new SeenRevision();
    seen.note({ revision: 4n });
    seen.note(message);
    seen.note({ revision: 5n });
    seen.note({});
    expect(seen.highest).toBe(9n);
  });
});
