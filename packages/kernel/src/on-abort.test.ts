import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { onAbort } from "./on-abort.ts";

describe("onAbort", () => {
  test("runs every action that is still there, once, and keeps one listener for all", () => {
    const controller = new AbortController();
    const ran: string[] = [];
    onAbort(controller.signal, () => ran.push("first"));
    const undo = onAbort(controller.signal, () => ran.push("second"));
    onAbort(controller.signal, () => ran.push("third"));
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
    undo();
    controller.abort();
    expect(ran).toEqual(["first", "third"]);
  });

  test("leaves no listener on a signal that nobody waits for, and can start again", () => {
    const controller = new AbortController();
    onAbort(controller.signal, () => undefined)();
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
    let ran = false;
    onAbort(controller.signal, () => {
      ran = true;
    });
    controller.abort();
    expect(ran).toBe(true);
  });

  test("an action may undo another while they run", () => {
    const controller = new AbortController();
    let undoOther = (): void => undefined;
    onAbort(controller.signal, () => undoOther());
    undoOther = onAbort(controller.signal, () => undefined);
    expect(() => controller.abort()).not.toThrow();
  });
});
