import { describe, expect, it } from "vitest";
import { afterPromises, atEndOfTurn, turnSent } from "./end-of-turn.ts";

describe("the end of a turn", () => {
  it("comes after every promise that is ready, and what it sends has left before who waits for that goes on", async () => {
    const done: string[] = [];
    // As the NATS client does it: what is published at the end of the turn is written in a microtask of its own.
    atEndOfTurn(() => {
      done.push("published");
      afterPromises(() => done.push("written"));
    });
    void Promise.resolve()
      .then(() => done.push("promise"))
      .then(() => done.push("promise of a promise"));
    await turnSent();
    expect(done).toEqual(["promise", "promise of a promise", "published", "written"]);
  });
});
