import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { headBytes } from "./frames.ts";
import { prefixBytes } from "./message-frames.ts";
import { firstWindowBytes } from "./opening.ts";
import { Outgoing } from "./outgoing.ts";

describe("what is said on a stream", () => {
  it("waits whole for a peer that gives room by the byte and does not read, and goes on when it does", async () => {
    const taken: (() => void)[] = [];
    let sent = 0;
    const socket = new Writable({
      write(chunk: Buffer, _encoding, done) {
        sent += chunk.length - headBytes;
        taken.push(done);
      },
    });
    const outgoing = new Outgoing(socket, () => {});
    const message = Buffer.alloc(firstWindowBytes + 50_000);
    expect(outgoing.send(message)).toBe(false);
    for (let byte = 0; byte < 50_000 + prefixBytes; byte += 1) {
      outgoing.addRoom(0, 1);
      outgoing.addRoom(1, 1);
    }
    expect(socket.writableLength).toBeLessThan(300_000);
    for (let done = taken.shift(); done !== undefined; done = taken.shift()) {
      done();
      await new Promise<void>((resolve) => process.nextTick(resolve));
    }
    expect(sent).toBe(prefixBytes + message.length);
  });
});
