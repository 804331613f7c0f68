import { createHash } from "node:crypto";
import {
  durationFromMs,
  Grant,
  IdentityNaming,
  IdentityProfile,
  IdentityServiceRegisterRequest,
} from "@tenure/contracts";
import { holderOf, stableIdentityId } from "@tenure/core";
import { Fault, seededRandom } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { Directory } from "../directory/directory.ts";
import { completeProfile } from "../record/profile-record.ts";
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

/** A service on a store that says what the test wants. `onFresh` is what has happened when the owner is asked. */
function start(acquire: () => Promise<Grant>, onFresh: (world: IdentityWorld) => void = () => {}) {
  const world = new IdentityWorld();
  const asked = { acquire: 0, fresh: 0, steal: 0 };
  const store = {
    acquire: async () => {
      asked.acquire += 1;
      return { grants: [await acquire()] };
    },
    freshRevision: async () => {
      asked.fresh += 1;
      onFresh(world);
      return world.hub.revision;
    },
    steal: async () => {
      asked.steal += 1;
      return { grant: await acquire() };
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
  return { context, asked, world };
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
    expect(asked).toEqual({ acquire: 5, fresh: 4, steal: 0 });
  });

  describe("of a stable id that this replica shows as held by the very process", () => {
    const id = stableIdentityId("h", "worker", (bytes) => createHash("sha256").update(bytes).digest());
    const request = requestOf({ naming: IdentityNaming.STABLE }, { instanceUid: "uid-2" });
    const hold = (world: IdentityWorld) => {
      const profile = completeProfile(IdentityProfile.fromPartial(request.profile ?? {}), {
        beatIntervalMs: beatMs,
        validityMs,
      });
      return world.hold(id, holderOf(id, "uid-2"), profile);
    };

    it("changes nothing, once the owner has said how far the log goes", async () => {
      const { asked, context, world } = start(() => Promise.reject(new Error("asked")));
      const token = hold(world);
      expect((await register(context, request, scope)).identity).toMatchObject({ id, token });
      expect(asked).toEqual({ acquire: 0, fresh: 1, steal: 0 });
    });

    it("takes the id back when another has it by now", async () => {
      const grant = Grant.fromPartial({ hold: { token: 77n, holdId: 8n, holder: "x" } });
      const taken = (world: IdentityWorld) => void world.steal(id, holderOf(id, "uid-1"));
      const { asked, context, world } = start(async () => grant, taken);
      hold(world);
      expect((await register(context, request, scope)).identity?.token).toBe(77n);
      expect(asked).toEqual({ acquire: 0, fresh: 1, steal: 1 });
    });
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
