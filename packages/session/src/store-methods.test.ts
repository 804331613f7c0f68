import { leaseKey, partitionOf } from "@tenure/core";
import { describe, expect, it } from "vitest";
import { storeDefinitions, storeMethods } from "./store-methods.ts";
import { wireField, wirePath } from "./wire-field.ts";

const key = { namespace: "billing", name: "acct:7" };
/** Every place in which a request names its lease. */
const everywhere = {
  attempt: { clientId: "c", number: 1n },
  lease: key,
  candidate: { lease: key, name: "one" },
  claims: [{ lease: key }],
  items: [{ lease: key, token: 1n }],
  fence: { lease: key, token: 1n },
};

const unary = storeDefinitions.flatMap((definition) =>
  Object.values(definition.methods)
    .filter(({ requestStream, responseStream }) => !requestStream && !responseStream)
    .map((method) => [`${definition.name}.${method.name}`, method] as const),
);

describe("storeMethods", () => {
  it("has every unary method of the store's services, and no other", () => {
    expect([...storeMethods.keys()].toSorted()).toEqual(unary.map(([name]) => name).toSorted());
  });

  it.each(unary)("knows where %s has its key and its attempt", (name, method) => {
    const codec = method.requestType as {
      fromPartial(message: object): never;
      encode(message: never): { finish(): Uint8Array };
    };
    const bytes = codec.encode(codec.fromPartial(everywhere)).finish();
    const { isChange, keyPath } = storeMethods.get(name) ?? { isChange: false };
    if (keyPath !== undefined) {
      const found = wirePath(bytes, keyPath) ?? new Uint8Array(0);
      const text = (field: number) => new TextDecoder().decode(wireField(found, field));
      expect(leaseKey(text(1), text(2))).toBe("billing/acct:7");
      expect(partitionOf(leaseKey(text(1), text(2)), 8)).toBe(partitionOf("billing/acct:8", 8));
    }
    const hasAttempt = Object.hasOwn(codec.fromPartial({}), "attempt");
    expect(isChange).toBe(hasAttempt);
  });
});
