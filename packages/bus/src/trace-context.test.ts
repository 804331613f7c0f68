import { describe, expect, test } from "vitest";
import { traceContextOf } from "./trace-context.ts";

const valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

describe("traceContextOf", () => {
  test.each([valid, valid.replace(/^00/, "cc"), `${valid.replace(/^00/, "cc")}-more`])(
    "carries %s unchanged",
    (text) => {
      expect(traceContextOf(text, undefined)).toEqual({ traceparent: text });
      expect(traceContextOf(text, "a=1,b=2")).toEqual({ traceparent: text, tracestate: "a=1,b=2" });
    },
  );

  test.each([
    undefined,
    "",
    valid.toUpperCase(),
    valid.slice(0, -1),
    `${valid}-more`,
    valid.replace(/^00/, "ff"),
    `00-${"0".repeat(32)}-00f067aa0ba902b7-01`,
    `00-4bf92f3577b34da6a3ce929d0e0e4736-${"0".repeat(16)}-01`,
    `${valid}\r\nTenure-Principal: root`,
  ])("drops the malformed traceparent %j", (text) => {
    expect(traceContextOf(text, "a=1")).toBeUndefined();
  });

  test.each(["", " a=1", "a=1\r\nx: y", "ä=1", "a".repeat(513)])("drops the malformed tracestate %j alone", (state) => {
    expect(traceContextOf(valid, state)).toEqual({ traceparent: valid });
  });
});
