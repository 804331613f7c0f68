import { describe, expect, it } from "vitest";
import { Arena, strategyOf } from "../testing/arena.ts";

const version = (text: string) => ({ binaryVersion: text, compatibilityVersion: text });

/** Nodes at one version, with a leader. */
function fleet(size: number, text: string): { arena: Arena; names: readonly string[] } {
  const arena = new Arena();
  const names = Array.from({ length: size }, (_, place) => `node-${place}`);
  for (const name of names) arena.join(name, version(text));
  arena.settle();
  return { arena, names };
}

/** Takes a node down and brings it back at another version under the same name. */
function replace(arena: Arena, name: string, text: string): void {
  if (arena.holder === name) arena.release();
  arena.withdraw(name);
  arena.settle();
  arena.join(name, version(text));
  arena.settle();
}

const leadersVersion = (arena: Arena) => arena.record.candidates?.get(arena.holder)?.spec.binaryVersion;

describe("the stories of KEP-4355", () => {
  it.each([3, 5])("statement 92: of %i nodes upgraded one by one, the old version leads until none is left", (size) => {
    const { arena, names } = fleet(size, "1.20.0");
    for (const [place, name] of names.entries()) {
      replace(arena, name, "1.21.0");
      expect(leadersVersion(arena)).toBe(place === size - 1 ? "1.21.0" : "1.20.0");
    }
  });

  it.each([3, 5])("statement 92: of %i nodes the first that is rolled back leads at once", (size) => {
    const { arena, names } = fleet(size, "1.21.0");
    const [, second = ""] = names;
    const before = arena.record.transitions;
    replace(arena, second, "1.20.0");
    expect(arena.holder).toBe(second);
    expect(arena.record.transitions).toBe(before + 1);
  });

  it("a node that comes back under its name with another version without withdrawing is judged by what it now says", () => {
    const { arena } = fleet(3, "1.21.0");
    arena.join("node-2", version("1.20.0"));
    arena.settle();
    expect(arena.holder).toBe("node-2");
  });

  it("story 3: an operator's strategy makes the new version lead now, and gives it back", () => {
    const { arena } = fleet(3, "1.20.0");
    arena.join("node-1", version("1.21.0"));
    arena.settle();
    expect(leadersVersion(arena)).toBe("1.20.0");
    arena.setStrategy(strategyOf("newestCompatibilityVersion"));
    arena.settle();
    expect(arena.holder).toBe("node-1");
    arena.setStrategy(undefined);
    arena.settle();
    expect(leadersVersion(arena)).toBe("1.20.0");
  });

  it("the leader crashes in the middle of an upgrade: another node of the old version follows", () => {
    const { arena } = fleet(3, "1.20.0");
    arena.join("node-2", version("1.21.0"));
    arena.settle();
    arena.crash(arena.holder);
    arena.pass(15_000);
    arena.settle();
    expect(leadersVersion(arena)).toBe("1.20.0");
    expect(arena.holder).toBe("node-1");
  });
});
