import { describe, expect, it } from "vitest";
import { FrameReader, frame } from "./frames.ts";
import {
  decodeLeaseId,
  decodeLockKey,
  decodeSucceeded,
  decodeWatched,
  encodeCreate,
  encodeGrant,
  encodeGuardedPut,
  encodeLeaseId,
  encodePut,
  encodeUnlock,
  encodeWatch,
} from "./messages.ts";

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const bytes = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex");

describe("messages of etcd", () => {
  it.each([
    ["a grant", encodeGrant(60), "08 3c"],
    ["a keep-alive", encodeLeaseId("300"), "08 ac02"],
    ["a put", encodePut("k", "v"), "0a 01 6b 12 01 76"],
    ["a put under a lease", encodePut("k", "v", "5"), "0a 01 6b 12 01 76 18 05"],
    ["an unlock", encodeUnlock(Buffer.from("k")), "0a 01 6b"],
    ["a watch", encodeWatch("k"), "0a 03 0a 01 6b"],
    [
      "a create: create_revision equals 0, then a put",
      encodeCreate("k", "5"),
      "0a 09 0800 1001 1a016b 2800 12 0d 12 0b 0a016b 120468656c64 1805",
    ],
    [
      "a guarded put: the lock's lease equals, then a put",
      encodeGuardedPut("l", "5", "k", "v"),
      "0a 09 0800 1004 1a016c 4005 12 08 12 06 0a016b 120176",
    ],
  ])("%s", (_, encoded, expected) => {
    expect(hex(encoded)).toBe(hex(bytes(expected)));
  });

  it("are read past what is not needed", () => {
    const header = "0a 02 1801";
    expect(decodeLeaseId(bytes(`${header} 10 ac02 18 3c`))).toBe("300");
    expect(decodeSucceeded(bytes(`${header} 1001`))).toBe(true);
    expect(decodeSucceeded(bytes(header))).toBe(false);
    expect(hex(decodeLockKey(bytes(`${header} 12026b31`)))).toBe("6b31");
    expect(decodeWatched(bytes(`${header} 1001 1801`))).toEqual({ isCreated: true, events: 0 });
    expect(decodeWatched(bytes(`${header} 5a00 5a00`))).toEqual({ isCreated: false, events: 2 });
  });
});

it("frames are found wherever the stream was cut", () => {
  const stream = Buffer.concat([frame(Buffer.from("one")), frame(Buffer.alloc(0)), frame(Buffer.from("three"))]);
  for (let cut = 0; cut <= stream.length; cut += 1) {
    const messages: string[] = [];
    const reader = new FrameReader((message) => messages.push(Buffer.from(message).toString()));
    reader.take(stream.subarray(0, cut));
    reader.take(stream.subarray(cut));
    expect(messages).toEqual(["one", "", "three"]);
  }
});
