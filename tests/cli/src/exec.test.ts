import { seededRandom } from "@tenure/kernel";
import { type Deployment, processState, startDeployment, waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mainFile, run, start } from "./command-line.ts";
import { CuttableProxy } from "./cuttable-proxy.ts";
import { childOf, ExecPair } from "./exec-pair.ts";
import { type ExecFault, execFaults } from "./faults.ts";
import { canBeFirst, hasTerminals, runOnTerminal, startFirst } from "./process.ts";

const isLong = process.env.TENURE_LONG === "1";
const longRuns = 100;
/** Pairs of hosts at once in the long run. */
const lanes = 4;

let deployment: Deployment;

beforeAll(async () => {
  deployment = await startDeployment();
}, 240_000);

afterAll(async () => await deployment?.[Symbol.asyncDispose]());

const see = async (argv: readonly string[]) => {
  const running = start(deployment.grpc(), argv);
  const { code, signal } = await running.waitForExit({ timeoutMs: 60_000 });
  return { outcome: signal ?? code, output: running.output.all };
};

/** Many processes start here, on a machine that may be busy. */
const patient = { timeout: 180_000 };

describe("tenure exec and lock", patient, () => {
  it("runs the program with lease, token and holder in its environment, which is enough for guarded writes", async () => {
    const tenure = `"${process.execPath}" "${mainFile}"`;
    const script = `echo "$TENURE_LEASE $TENURE_HOLDER"; ${tenure} guard put who "$TENURE_TOKEN"`;
    const argv = ["exec", "exec/environment", "--identity", "me", "--", "/bin/sh", "-c", script];
    const { outcome, output } = await see(argv);
    expect(output).toContain("exec/environment me");
    const token = output
      .find((line) => line.includes("with token"))
      ?.split(" ")
      .at(-1);
    expect(outcome).toBe(0);
    expect((await run(deployment.grpc(), "guard get who --lease exec/environment")).out).toBe(`${token}\n`);
  });

  it.each([
    ["the program's success", "exec exec/codes -- true", 0],
    ["the program's failure", "exec exec/codes -- false", 1],
    ["the program's own code", "lock exec/codes --pass-exit-code -- node -e process.exit(7)", 7],
    ["the program's signal", "lock exec/codes --pass-exit-code -- node -e process.kill(process.pid)", 143],
    ["a program that does not exist", "exec exec/codes -- /no/such/program", 1],
    ["a program that cannot be one", "exec exec/codes -- /etc/passwd/program", 1],
  ])("ends with the code of %s", async (_name, line, code) => {
    const seen = await run(deployment.grpc(), ["--timeout", "60s", ...line.split(" ")]);
    expect(seen.code, seen.err).toBe(code);
    expect(seen.err).not.toMatch(/^ +at /m);
  });

  it("a lock that another has is 11 at once or after the wait, and a counted one takes as many as it has places", async () => {
    const holders = [1, 2].map(() =>
      start(deployment.grpc(), ["lock", "exec/counted", "-n", "2", "--", "sleep", "60"]),
    );
    for (const holder of holders) await holder.waitForLine("holding", { timeoutMs: 60_000 });
    const lock = (more: string) =>
      run(deployment.grpc(), `--timeout 60s lock exec/counted -n 2 ${more} -- true`.split(" "));
    for (const wait of ["--wait 0", "--wait 1s"]) {
      const { code, err } = await lock(wait);
      expect(code, err).toBe(11);
      expect(err).toContain("exec/counted was not acquired in time");
    }
    expect((await run(deployment.grpc(), "--timeout 60s exec exec/counted --wait 60s -- true")).code).toBe(4);
    holders[0]?.terminate();
    expect(await holders[0]?.waitForExit({ timeoutMs: 60_000 })).toEqual({ code: null, signal: "SIGTERM" });
    expect((await lock("-q")).code).toBe(0);
    await holders[1]?.stop();
  });

  it("dies by the signal that ends its wait, and passes other signals to the program", async () => {
    const script = 'trap "echo usr1; exit 0" USR1; echo ready; while :; do sleep 0.05; done';
    const leading = start(deployment.grpc(), ["exec", "exec/signals", "--", "/bin/sh", "-c", script]);
    await leading.waitForLine("ready", { timeoutMs: 60_000 });
    const waiting = start(deployment.grpc(), ["exec", "exec/signals", "--", "true"]);
    await waiting.waitForLine("waiting for", { timeoutMs: 60_000 });
    process.kill(waiting.pid, "SIGINT");
    expect(await waiting.waitForExit({ timeoutMs: 60_000 })).toEqual({ code: null, signal: "SIGINT" });
    process.kill(leading.pid, "SIGUSR1");
    expect((await leading.waitForExit({ timeoutMs: 60_000 })).code).toBe(0);
    expect(leading.output.all).toContain("usr1");
  });

  it("runs the pre-stop command before it asks the program to stop", async () => {
    const script = 'trap "echo stopped; exit 0" TERM; echo ready; while :; do sleep 0.05; done';
    const argv = ["exec", "exec/pre-stop", "--pre-stop", "echo draining $TENURE_LEASE", "--", "/bin/sh", "-c", script];
    const leading = start(deployment.grpc(), argv);
    await leading.waitForLine("ready", { timeoutMs: 60_000 });
    leading.terminate();
    expect((await leading.waitForExit({ timeoutMs: 60_000 })).code).toBe(0);
    const lines = leading.output.all.filter((line) => line === "draining exec/pre-stop" || line === "stopped");
    expect(lines).toEqual(["draining exec/pre-stop", "stopped"]);
  });

  it("does not wait for a pre-stop command that hangs, and leaves none of it behind", async () => {
    const script = 'trap "exit 0" TERM; echo ready; while :; do sleep 0.05; done';
    const flags = ["--drain", "2s", "--pre-stop", "echo hangs $$; sleep 600"];
    const leading = start(deployment.grpc(), ["exec", "exec/hangs", ...flags, "--", "/bin/sh", "-c", script]);
    await leading.waitForLine("ready", { timeoutMs: 60_000 });
    leading.terminate();
    const line = await leading.waitForLine("hangs ", { timeoutMs: 60_000 });
    expect((await leading.waitForExit({ timeoutMs: 60_000 })).code, leading.output.tail()).toBe(0);
    expect(await processState(Number(line.split(" ")[1]))).toBe("gone");
  });

  it("kills the program at the second request to stop, however long its drain is", async () => {
    const script = 'trap "" TERM; echo program $$; while :; do sleep 0.05; done';
    const leading = start(deployment.grpc(), ["lock", "exec/hurry", "--drain", "10m", "--", "/bin/sh", "-c", script]);
    const line = await leading.waitForLine("program ", { timeoutMs: 60_000 });
    await waitFor(
      () => {
        if (leading.exit === undefined) leading.terminate();
        return leading.exit;
      },
      { timeoutMs: 60_000, intervalMs: 500 },
    );
    expect(leading.exit).toEqual({ code: null, signal: "SIGTERM" });
    expect(await processState(Number(line.split(" ")[1]))).toBe("gone");
  });

  it("ends, and its program with it, when it is asked to while its watchdog stands still", async () => {
    const argv = ["lock", "exec/still", "--drain", "1s", "--", "/bin/sh", "-c", "echo program $$; exec sleep 600"];
    const holding = start(deployment.grpc(), argv);
    const line = await holding.waitForLine("program ", { timeoutMs: 60_000 });
    const watchdog = childOf(holding.pid, /watchdog.js/);
    expect(watchdog).toBeGreaterThan(1);
    process.kill(watchdog!, "SIGSTOP");
    holding.terminate();
    expect((await holding.waitForExit({ timeoutMs: 60_000 })).code, holding.output.tail()).toBe(20);
    expect(await processState(Number(line.split(" ")[1]))).toBe("gone");
  });

  it("a request to stop that comes before the program runs reaches it when it does", async () => {
    await using proxy = await CuttableProxy.create(deployment.grpc());
    proxy.cut();
    const leading = start(proxy.endpoint, "exec exec/early --timeout 5s --drain 10m -- sleep 600".split(" "));
    await leading.waitForLine("trying again", { timeoutMs: 60_000 });
    const watchdog = childOf(leading.pid, /watchdog.js/);
    expect(watchdog).toBeGreaterThan(1);
    process.kill(watchdog!, "SIGSTOP");
    proxy.mend();
    await leading.waitForLine("with token", { timeoutMs: 60_000 });
    leading.terminate();
    process.kill(watchdog!, "SIGCONT");
    expect(await leading.waitForExit({ timeoutMs: 60_000 })).toEqual({ code: null, signal: "SIGTERM" });
  });

  it("ends with 20 when its authority is lost", async () => {
    await using proxy = await CuttableProxy.create(deployment.grpc());
    const argv = ["exec", "exec/loss", "--lease-duration", "5s", "--", "sleep", "60"];
    const alone = start(proxy.endpoint, argv);
    await alone.waitForLine("with token", { timeoutMs: 60_000 });
    proxy.cut();
    expect((await alone.waitForExit({ timeoutMs: 60_000 })).code).toBe(20);
  });
});

describe("the installed command", patient, () => {
  it.runIf(canBeFirst)(
    "as process 1 passes signals on, leaves no zombies and ends with the program's code",
    async () => {
      const zombies = "grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null | wc -l";
      const orphan = "(sh -c 'sleep 0.1; echo orphan ended' &)";
      const script = `${orphan}; trap "exit 7" TERM; while :; do echo zombies $(${zombies}); sleep 0.1; done`;
      const argv = ["exec", "exec/first", "--pass-exit-code", "--", "/bin/sh", "-c", script];
      const first = startFirst(deployment.grpc(), argv);
      await first.waitForLine("orphan ended", { timeoutMs: 60_000 });
      await first.waitForLine("zombies 0", { timeoutMs: 60_000, from: first.output.all.length + 1 });
      const shell = childOf(first.pid, /^\/bin\/sh \S+\/bin\/tenure /);
      expect(shell).toBeGreaterThan(1);
      process.kill(shell!, "SIGTERM");
      expect((await first.waitForExit({ timeoutMs: 60_000 })).code, first.output.tail()).toBe(7);
    },
  );

  it.runIf(hasTerminals)("draws in colours on a terminal, unless NO_COLOR is set", async () => {
    const line = "leases list --namespace exec";
    expect((await runOnTerminal(deployment.grpc(), line)).startsWith("\u001b[2mLEASE")).toBe(true);
    expect(await runOnTerminal(deployment.grpc(), line, { NO_COLOR: "1" })).toMatch(/^LEASE/);
  });
});

/** Strikes the leader, waits for the next term, and looks whether two ever acted at once. */
async function survive(pair: ExecPair, fault: ExecFault, afterMs: number): Promise<void> {
  const before = await pair.leader(pair.journal.terms.at(-2)?.token ?? 0n);
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  await fault.strike(pair, before.host);
  if (fault.movesLease) await pair.leader(before.token);
  await pair.revive(before.host);
  expect(await pair.verdict(), fault.name).toEqual({ overlaps: [], leftOver: [] });
}

describe("two hosts never run the program at once, and leave nothing behind, when the leader", patient, () => {
  let pair: ExecPair;
  beforeAll(async () => {
    pair = await ExecPair.create(deployment, "exec/pair");
  });
  afterAll(async () => await pair?.[Symbol.asyncDispose](), 120_000);

  it.each(execFaults)("$name", async (fault) => await survive(pair, fault, 0));
});

describe.runIf(isLong)("random faults", () => {
  const seed = Number(process.env.TENURE_SEED ?? Date.now() % 1_000_000);

  it(`${longRuns} times with seed ${seed}`, async () => {
    const lane = async (number: number): Promise<void> => {
      const random = seededRandom(seed + number);
      await using pair = await ExecPair.create(deployment, `exec/lane-${number}`);
      for (let run = 0; run < longRuns / lanes; run += 1) {
        const fault = execFaults[Math.floor(random.next() * execFaults.length)];
        if (fault !== undefined) await survive(pair, fault, random.next() * 3_000);
      }
    };
    await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)));
  }, 3_600_000);
});
