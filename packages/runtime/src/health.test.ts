import { describe, expect, it } from "vitest";
import { Health } from "./health.ts";

describe("Health", () => {
  it("is not ready before anybody has said so", () => {
    expect(new Health().ready).toBe(false);
  });

  it("is ready when every condition that was ever named holds", () => {
    const health = new Health();
    health.set("nats", true);
    expect(health.ready).toBe(true);
    health.set("log", false, "3 batches behind");
    expect(health.ready).toBe(false);
    expect(health.unmet).toEqual([{ condition: "log", why: "3 batches behind" }]);
    health.set("log", true);
    expect(health.unmet).toEqual([]);
    expect(health.ready).toBe(true);
  });

  it("tells its listeners of changes, and only of changes", () => {
    const health = new Health();
    let changes = 0;
    const unsubscribe = health.onChange(() => {
      changes += 1;
    });
    health.set("nats", true);
    health.set("nats", true);
    health.set("nats", false, "lost");
    health.set("nats", false, "lost");
    health.set("nats", false, "still lost");
    expect(changes).toBe(3);
    unsubscribe();
    health.set("nats", true);
    expect(changes).toBe(3);
  });
});
