import { describe, expect, it } from "vitest";
import { Turns } from "./turns.ts";

describe("turns", () => {
  it("are taken one after another, also after one that failed", async () => {
    const turns = new Turns();
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const order: string[] = [];
    const act = (name: string, wait?: Promise<void>) => async () => {
      order.push(`${name} begins`);
      await wait;
      order.push(`${name} ends`);
      if (name === "a") throw new Error("a failed");
      return name;
    };
    const first = turns.take(act("a", gate));
    const second = turns.take(act("b"));
    open();
    await expect(first).rejects.toThrow("a failed");
    expect(await second).toBe("b");
    expect(order).toEqual(["a begins", "a ends", "b begins", "b ends"]);
  });
});
