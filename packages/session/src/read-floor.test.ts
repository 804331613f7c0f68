import { publicServices, ReadConsistency, type ReadOptions } from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { withFloor } from "./read-floor.ts";

interface Codec {
  fromPartial(message: object): { readonly read?: ReadOptions | undefined };
  encode(message: object): { finish(): Uint8Array };
  decode(bytes: Uint8Array): { readonly read?: ReadOptions | undefined };
}

const unary = Object.values(publicServices).flatMap((definition) =>
  Object.values(definition.methods)
    .filter(({ requestStream, responseStream }) => !requestStream && !responseStream)
    .map((method) => [`${definition.name}.${method.name}`, method.requestType as unknown as Codec] as const),
);
const reads = unary.filter(([, codec]) => Object.hasOwn(codec.fromPartial({}), "read"));
const changes = unary.filter(([, codec]) => !Object.hasOwn(codec.fromPartial({}), "read"));

describe("withFloor", () => {
  it.each(reads)("raises the floor of %s, and leaves a higher one and the rest", (name, codec) => {
    const floored = (read: object | undefined, floor: bigint) => {
      const bytes = codec.encode(codec.fromPartial({ read })).finish();
      return codec.decode(withFloor(name, bytes, floor)).read;
    };
    expect(floored(undefined, 9n)).toMatchObject({ minRevision: 9n });
    expect(floored(undefined, 0n)).toBeUndefined();
    expect(floored({ minRevision: 12n }, 9n)).toMatchObject({ minRevision: 12n });
    const consistency = ReadConsistency.LINEARIZABLE;
    expect(floored({ minRevision: 5n, consistency }, 9n)).toEqual({ minRevision: 9n, consistency });
  });

  it.each(changes)("leaves %s as it is", (name, codec) => {
    const bytes = codec.encode(codec.fromPartial({})).finish();
    expect(withFloor(name, bytes, 9n)).toBe(bytes);
  });

  it("refuses a request that is no message", () => {
    const broken = Uint8Array.of(0x12, 0x01, 0x10);
    expect(() => withFloor("LeaseService.Get", broken, 9n)).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT" }),
    );
  });
});
