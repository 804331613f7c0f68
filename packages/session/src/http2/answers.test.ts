import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { Answers } from "./answers.ts";

const answer = Buffer.alloc(17);
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("answers to a peer's frames", () => {
  it("are sent together", () => {
    const socket = new Writable({ write: () => {} });
    const answers = new Answers(socket);
    answers.add(answer);
    answers.add(answer);
    expect(socket.writableLength).toBe(0);
    answers.flush();
    expect(socket.writableLength).toBe(2 * answer.length);
  });

  it("wait in a bounded number for a peer that does not read, and are no matter to one that does", async () => {
    const ask = async (socket: Writable) => {
      const answers = new Answers(socket);
      for (let number = 0; number < 30_000; number += 1) {
        answers.add(answer);
        if (number % 100 !== 0) continue;
        answers.flush();
        await settled();
      }
    };
    await ask(new Writable({ write: (_chunk, _encoding, done) => done() }));
    await expect(ask(new Writable({ write: () => {} }))).rejects.toThrow("it reads nothing");
  });
});
