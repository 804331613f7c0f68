import { durationFromMs, Grant, IdentityNaming, IdentityServiceRegisterRequest } from "@tenure/contracts";
import { Fault, seededRandom } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { Directory } from "../directory/directory.ts";
import { beatMs, IdentityWorld, namespace, validityMs } from "../testing/identity-world.ts";
import type { IdentityContext } from "./identity-context.ts";
import { register } from "./register.ts";

const limits = { leastBeatIntervalMs: 1_000, mostBeatIntervalMs: 60_000, mostValidityMs: 86_400_000 };
const scope = {
  principal: "test",
  signal: new AbortController().signal,
  trace: undefined,
  remainingMs: () => 5_000,
} as never;

/** A service on a store that says what the test wants. */
function start(acquire: () => Promise<Grant>) {
  const world = new IdentityWorld();
  const asked = { acquire: 0, fresh: 0 };
  const store = {
    acquire: async () => {
      asked.acquire += 1;
      return { grants: [await acquire()] };
    },
    freshRevision: async () => {
      asked.fresh += 1;
      return 0n;
    },
  };
  const context = {
    clock: world.clock,
    random: seededRandom(3),
    reader: { hub: world.hub },
    store,
    directory: new Directory(world, namespace),
    limits,
    defaults: { beatIntervalMs: beatMs, validityMs },
  } as unknown as IdentityContext;
  return { context, asked };
}

const requestOf = (profile: object, more: object = {}) =>
  IdentityServiceRegisterRequest.fromPartial({
    profile: { component: "worker", host: "h", processId: 7, ...profile },
    ...more,
  });

describe("a registration", () => {
  it("[101] reads anew and tries again when the record changed, five times at once and no more", async () => {
    const conflict = new Fault({ code: "ABORTED", reason: "REVISION_CONFLICT", message: "changed" });
    const { asked, context } = start(() => Promise.reject(conflict));
    await expect(register(context, requestOf({}), scope)).rejects.toBe(conflict);
    expect(asked).toEqual({ acquire: 5, fresh: 4 });
  });

  it("is not tried again when the store refuses it for another reason", async () => {
    const full = new Fault({ code: "RESOURCE_EXHAUSTED", reason: "LIMIT_EXCEEDED", message: "full" });
    const { asked, context } = start(() => Promise.reject(full));
    await expect(register(context, requestOf({}), scope)).rejects.toBe(full);
    expect(asked.acquire).toBe(1);
  });

  it("answers from the grant when this replica has not read of it yet", async () => {
    const { context } = start(async () => Grant.fromPartial({ hold: { token: 9n, holdId: 8n, holder: "x" } }));
    const { identity } = await register(context, requestOf({ beatInterval: durationFromMs(2_000) }), scope);
    expect(identity?.id).toMatch(/^h-7-[1-9a-z]{6}$/);
    expect(identity).toMatchObject({ token: 9n, holdId: 8n, principal: "test", profile: { component: "worker" } });
  });

  it.each([
    ["profile.component", {}, { component: "" }],
    ["renew_key_hash", { renewKeyHash: new Uint8Array(5) }, {}],
    ["instance_uid", {}, { naming: IdentityNaming.STABLE }],
    ["id", { id: "h-8-abcdef" }, {}],
  ])("is refused for a wrong %s before anything is asked of the store", async (field, more, profile) => {
    const { asked, context } = start(() => Promise.reject(new Error("asked")));
    const refused = register(context, requestOf(profile, more), scope);
    await expect(refused).rejects.toMatchObject({ details: { violations: [{ field }] } });
    expect(asked.acquire).toBe(0);
  });
});
