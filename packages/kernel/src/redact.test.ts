import { describe, expect, it } from "vitest";
import { redactLogins } from "./redact.ts";

describe("redactLogins", () => {
  it.each([
    ["nats://user:secret@host:4222", "nats://***@host:4222"],
    ["nats://u:se/cret@h", "nats://***@h"],
    ["nats://u:top@secret@h", "nats://***@h"],
    ["nats://token@h", "nats://***@h"],
    ["nats://a:b@h1,nats://c:d@h2", "nats://***@h1,nats://***@h2"],
    ['["nats://a:b@h1","tls://h2"]', '["nats://***@h1","tls://h2"]'],
    ["no server at nats://a:b@h answered", "no server at nats://***@h answered"],
    ["u:secret@h:1", "***@h:1"],
    ['"u:secret@"', '"***@"'],
    ["nats://host:4222", "nats://host:4222"],
    ["ann@example.com", "ann@example.com"],
  ])("shows %s as %s", (text, shown) => {
    expect(redactLogins(text)).toBe(shown);
  });
});
