import type { Profile } from "../profile.ts";
import type { WorldParts } from "../world.ts";
import { type Edit, mutatedCode } from "./mutant-code.ts";

/** A bug that is planted, and what must see it. */
export interface Mutation {
  readonly name: string;
  /** The invariants that it breaks; another violation is not its discovery. */
  readonly breaks: readonly string[];
  /** The worlds that it is looked for in; undefined: whatever the seeds say. */
  readonly profile?: Profile;
  readonly plant: () => Promise<WorldParts>;
}

/** A bug that is planted by editing a copy of the built code. */
export function edited(name: string, breaks: readonly string[], ...edits: readonly Edit[]): Mutation {
  const folder = name.replaceAll(" ", "-");
  return { name, breaks, plant: async () => ({ code: await mutatedCode(folder, edits) }) };
}

/** The same bug, looked for in one kind of world. */
export function within(profile: Profile, mutation: Mutation): Mutation {
  return { ...mutation, profile };
}
