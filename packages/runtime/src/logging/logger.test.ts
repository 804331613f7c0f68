import { FakeClock, Fault } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { createLogger, type LoggerOptions } from "./logger.ts";

function collect(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const log = createLogger({
    service: "probe",
    instance: "i-1",
    level: "info",
    format: "json",
    colors: false,
    clock: new FakeClock({ wallMs: 0 }),
    secrets: [],
    destination: { write: (line) => void lines.push(line) },
    ...options,
  });
  return { log, lines, first: () => JSON.parse(lines[0] ?? "null") };
}

describe("createLogger", () => {
  it("writes one JSON line with level, time, service and instance", () => {
    const { log, lines, first } = collect();
    log.info({ lease: "a/b" }, "granted");
    log.debug("not at this level");
    expect(lines).toHaveLength(1);
    expect(first()).toEqual({
      level: "info",
      time: "1970-01-01T00:00:00.000Z",
      service: "probe",
      instance: "i-1",
      lease: "a/b",
      msg: "granted",
    });
  });

  it("shows a fault's code, reason and details, without a stack", () => {
    const { log, first } = collect();
    const cause = new Error("socket hang up");
    const details = { token: 2n ** 63n - 1n, holder: "b" };
    log.error({ err: new Fault({ code: "ABORTED", reason: "CONFLICT", message: "changed", details, cause }) }, "no");
    expect(first().err).toMatchObject({
      type: "Fault",
      code: "ABORTED",
      reason: "CONFLICT",
      message: "changed",
      details: { token: "9223372036854775807", holder: "b" },
      cause: { type: "Error", message: "socket hang up" },
    });
    expect(first().err.stack).toBeUndefined();
  });

  it("shows a fault's stack from level debug, and any other error's always", () => {
    const fault = new Fault({ code: "ABORTED", reason: "CONFLICT", message: "changed" });
    const debugging = collect({ level: "debug" });
    debugging.log.error({ err: fault }, "no");
    expect(debugging.first().err.stack).toContain("logger.test.ts");
    const { log, first } = collect();
    log.error({ err: new TypeError("mistake") }, "no");
    expect(first().err.stack).toContain("logger.test.ts");
  });

  it("ends at an error that is its own cause, and takes what is not an error", () => {
    const { log, lines } = collect();
    const loop = new Error("loop");
    loop.cause = loop;
    log.error({ err: loop }, "no");
    log.error({ err: "text" }, "no");
    expect(lines).toHaveLength(2);
    expect(JSON.parse(lines[1] ?? "").err).toEqual({ type: "string", message: "text" });
  });

  it.each(["json", "pretty"] as const)("keeps secrets out of %s lines, by name and by value", (format) => {
    const secret = 'hunter"2';
    const { log, lines } = collect({ format, secrets: [secret] });
    log.info({ password: "by name", call: { renewKey: "by name" }, url: `nats://u:${secret}@h` }, `with ${secret}`);
    log.error({ err: new Error(`refused ${secret} and nats://u:pw@h`) }, "no");
    const text = lines.join("");
    expect(text).not.toContain("hunter");
    expect(text).not.toContain("by name");
    expect(text).not.toContain("u:pw");
    expect(text).toContain("[redacted]");
  });

  it("prints readable lines", () => {
    const { log, lines } = collect({ format: "pretty" });
    log.warn({ step: "bus" }, "slow");
    expect(lines.join("")).toMatch(/^\[\d\d:\d\d:\d\d\.\d\d\d\] WARN: probe: slow \{"step":"bus"\}\n$/);
  });
});
