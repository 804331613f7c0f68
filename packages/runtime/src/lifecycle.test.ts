import { FakeClock, Fault } from "@tenure/kernel";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { configFault } from "./config/index.ts";
import { Health } from "./health.ts";
import type { StopSignal } from "./host.ts";
import { Lifecycle } from "./lifecycle.ts";

/** A life whose process is the test: signals and crashes are sent by hand, exits and lines are written down. */
function begin(boot: (lifecycle: Lifecycle) => Promise<void> = () => Promise.resolve()) {
  const clock = new FakeClock();
  const health = new Health();
  const seen = { events: [] as string[], lines: [] as string[], codes: [] as number[] };
  let signal: (signal: StopSignal) => void = () => {};
  let crash: (thrown: unknown) => void = () => {};
  const lifecycle = new Lifecycle({
    service: "probe",
    host: {
      clock,
      onSignal: (listener) => {
        signal = listener;
      },
      onCrash: (listener) => {
        crash = listener;
      },
      complain: (line) => void seen.lines.push(line),
      exit: (code) => void seen.codes.push(code),
    },
    log: pino({ level: "silent" }),
    health,
    stopTimeoutMs: 10_000,
  });
  const finished = lifecycle.run(() => boot(lifecycle));
  return { clock, health, lifecycle, finished, ...seen, signal, crash };
}

/** A wait that only its abort ends. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
}

describe("Lifecycle", () => {
  it("is ready once its boot is done, and not before", async () => {
    let finishBoot: () => void = () => {};
    const life = begin((lifecycle) => {
      lifecycle.starting("connecting");
      return new Promise((resolve) => {
        finishBoot = resolve;
      });
    });
    expect(life.health.unmet).toEqual([{ condition: "lifecycle", why: "starting: connecting" }]);
    finishBoot();
    await life.clock.advance(0);
    expect(life.health.ready).toBe(true);
  });

  it("stops on a signal: not ready first, then the steps in reverse, then exit 0", async () => {
    const life = begin(async (lifecycle) => {
      lifecycle.steps.push("http", () => life.events.push("http"));
      lifecycle.steps.push("bus", () => life.events.push("bus"));
      lifecycle.steps.push("service", () => life.events.push("service"));
    });
    await life.clock.advance(0);
    life.health.onChange(() => life.events.push(`ready ${life.health.ready}`));
    life.lifecycle.stopping.addEventListener("abort", () => life.events.push("abort"));
    life.signal("SIGTERM");
    expect(life.health.unmet).toEqual([{ condition: "lifecycle", why: "stopping: SIGTERM" }]);
    await life.finished;
    expect(life.events).toEqual(["ready false", "abort", "service", "bus", "http"]);
    expect(life).toMatchObject({ codes: [0], lines: [] });
    expect(life.clock.pendingTimers).toBe(0);
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("exits at once on a second signal: %s gives %i", async (second, code) => {
    const life = begin(async (lifecycle) => {
      lifecycle.steps.push("service", () => new Promise(() => {}));
    });
    await life.clock.advance(0);
    life.signal("SIGTERM");
    await life.clock.advance(0);
    expect(life.codes).toEqual([]);
    life.signal(second);
    await life.finished;
    expect(life.codes).toEqual([code]);
  });

  it("gives up when the bound has passed, exits 1 and names the step that hung", async () => {
    const life = begin(async (lifecycle) => {
      lifecycle.steps.push("bus", () => {});
      lifecycle.steps.push("service", () => new Promise(() => {}));
    });
    await life.clock.advance(0);
    life.signal("SIGTERM");
    await life.clock.advance(9_999);
    expect(life.codes).toEqual([]);
    await life.clock.advance(1);
    expect(life).toMatchObject({
      codes: [1],
      lines: ["tenure probe: did not stop within 10s: step service hung"],
    });
  });

  it("gives a boot that is under way the chance to end, undoes what it began, and exits 0", async () => {
    const life = begin(async (lifecycle) => {
      lifecycle.steps.push("http", () => life.events.push("http"));
      await untilAborted(lifecycle.stopping);
    });
    await life.clock.advance(0);
    life.signal("SIGINT");
    await life.finished;
    expect(life).toMatchObject({ codes: [0], lines: [], events: ["http"] });
  });

  it("names the boot when that is what hangs", async () => {
    const life = begin(() => new Promise(() => {}));
    life.signal("SIGTERM");
    await life.clock.advance(10_000);
    expect(life.lines).toEqual(["tenure probe: did not stop within 10s: step boot hung"]);
  });

  it("undoes a failed boot and exits 1 with one line and no stack", async () => {
    const life = begin((lifecycle) => {
      lifecycle.steps.push("http", () => life.events.push("http"));
      const message = "no NATS server answered\n at nats://u:pass@h:1";
      return Promise.reject(new Fault({ code: "UNAVAILABLE", reason: "NATS_UNREACHABLE", message }));
    });
    await life.finished;
    expect(life).toMatchObject({
      codes: [1],
      events: ["http"],
      lines: ["tenure probe: no NATS server answered at nats://***@h:1"],
    });
  });

  it("exits 2 with a line for each problem when the configuration is to blame", async () => {
    const problems = [
      { where: "--a", rule: "is bad" },
      { where: "--b", rule: "is worse", value: "1" },
    ];
    const life = begin(() => Promise.reject(configFault(problems)));
    await life.finished;
    expect(life).toMatchObject({
      codes: [2],
      lines: ["tenure probe: --a is bad", "tenure probe: --b is worse (got 1)"],
    });
  });

  it("says which step failed while stopping, and exits 1", async () => {
    const life = begin(async (lifecycle) => {
      lifecycle.steps.push("bus", () => Promise.reject(new Error("no flush")));
    });
    await life.clock.advance(0);
    life.signal("SIGTERM");
    await life.finished;
    expect(life).toMatchObject({ codes: [1], lines: ["tenure probe: stop step bus failed: no flush"] });
  });

  it("exits 1 at once, without the steps, on an error that nobody caught", async () => {
    const life = begin(async (lifecycle) => {
      lifecycle.steps.push("service", () => life.events.push("service"));
    });
    await life.clock.advance(0);
    life.crash(new TypeError("x is not a function"));
    await life.finished;
    expect(life).toMatchObject({ codes: [1], lines: ["tenure probe: x is not a function"], events: [] });
  });

  it("exits once, whatever comes after", async () => {
    const life = begin();
    life.crash(new Error("first"));
    life.crash(new Error("second"));
    life.signal("SIGTERM");
    await life.clock.advance(20_000);
    expect(life).toMatchObject({ codes: [1], lines: ["tenure probe: first"] });
  });
});
