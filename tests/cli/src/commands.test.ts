import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect, type Tenure, type Term } from "@tenure/sdk";
import { type Deployment, startDeployment, startScript, tempDirectory, waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { demoFile, type RunOptions, run, steady } from "./command-line.ts";

// Two candidates for tests/scheduler, of which the older leads; a plain leader of tests/plain; one identity.
let deployment: Deployment;
const clients: Tenure[] = [];
const stop = new AbortController();

async function client(identity: string, more: Partial<Parameters<typeof connect>[0]> = {}): Promise<Tenure> {
  const common = { namespace: "tests", connectTimeout: "60s", callTimeout: "30s", renewal: "inline" } as const;
  const tenure = await connect({ endpoint: deployment.grpc(), identity, ...common, ...more });
  clients.push(tenure);
  return tenure;
}

/** Leads until its term is asked to end, again and again. */
function leadFor(tenure: Tenure, lease: string, binaryVersion?: string): void {
  const coordinated = binaryVersion === undefined ? {} : { coordinated: { binaryVersion } };
  void tenure
    .lead(lease, { signal: stop.signal, ...coordinated }, async (term: Term) => {
      if (lease === "plain") await term.guard.put("last-run", "noon");
      await new Promise((resolve) => term.signal.addEventListener("abort", resolve, { once: true }));
    })
    .catch(() => undefined);
}

const see = (line: readonly string[] | string, options?: RunOptions) => {
  const words = typeof line === "string" ? line.split(" ") : line;
  return run(deployment.grpc(), ["--timeout", "60s", ...words], options);
};
/** Watches until something is told; gives it. */
async function firstWatched(line: string): Promise<string> {
  const stopped = new AbortController();
  const onOutput = (out: string): void => {
    if (out.split("\n").slice(0, -1).length > 0) stopped.abort();
  };
  const { code, out } = await see(`${line} -w -o jsonl`, { signal: stopped.signal, onOutput });
  expect(code).toBe(0);
  for (const one of out.trim().split("\n")) JSON.parse(one);
  return out;
}

const leaderOf = async (lease: string) => (await see(`leader tests/${lease}`)).out.trim();

beforeAll(async () => {
  deployment = await startDeployment({
    services: { "lease-store": 1, gateway: 1, identity: 1, election: 1, migration: 1 },
  });
  const n1 = await client("n1");
  leadFor(n1, "scheduler", "1.20.0");
  await waitFor(async () => (await leaderOf("scheduler")) === "n1", { timeoutMs: 60_000 });
  leadFor(await client("n2"), "scheduler", "1.21.0");
  leadFor(await client("p1", { register: { component: "printer", version: "2.0.0" } }), "plain");
  await waitFor(async () => (await leaderOf("plain")) === "p1", { timeoutMs: 60_000 });
  await waitFor(async () => (await see("candidates list tests/scheduler -o name")).out.includes("n2"), {
    timeoutMs: 60_000,
  });
  await waitFor(async () => (await see("guard get last-run --lease tests/plain")).code === 0, { timeoutMs: 60_000 });
}, 240_000);

afterAll(async () => {
  stop.abort();
  await Promise.all(clients.map((tenure) => tenure.close()));
  await deployment?.[Symbol.asyncDispose]();
}, 120_000);

/** A busy machine may take its time for each of many calls. */
const patient = { timeout: 180_000 };

describe("seeing", patient, () => {
  it("status is one screen, in colours on a terminal", async () => {
    // All are there; that the whole is ready is told a moment later.
    await waitFor(async () => (await see("status")).code === 0, { timeoutMs: 60_000 });
    const { out } = await see("status", { isTerminal: true });
    expect(out).toContain("is <good>ready</good> (development)");
    expect(out).toMatch(/^lease-store +<good>1\/1/m);
    expect(out).toContain("partitions  8 of 8 owned");
    expect(out).toContain("leases      2 in all, 2 held; 2 candidates\nleaderless  none\n");
    expect(
      JSON.parse((await see("status -o json")).out).services.map((one: { service: string }) => one.service),
    ).toContain("lease-store");
  });

  it("leases are a table, a wide table, JSON, JSON lines, YAML and names", async () => {
    const { code, out } = await see("leases list --namespace tests");
    expect(code).toBe(0);
    expect(steady(out)).toBe(
      [
        "LEASE STATE HOLDER TOKEN HELD-FOR",
        "tests/plain held p1 NUMBER SPAN",
        "tests/scheduler held n1 NUMBER SPAN",
        "",
      ].join("\n"),
    );
    expect((await see("leases -o wide")).out).toContain("OldestCompatibilityVersion");
    expect((await see("leases -o name")).out).toBe("tests/plain\ntests/scheduler\n");
    const json = JSON.parse((await see("leases -o json")).out);
    expect(json[0]).toMatchObject({ key: { namespace: "tests", name: "plain" }, spec: { leaseDuration: "15s" } });
    const lines = (await see("leases -o jsonl")).out.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line).key.name)).toEqual(["plain", "scheduler"]);
    expect((await see("leases get tests/plain -o yaml")).out).toContain("state: LEASE_STATE_HELD\n");
    expect((await see("leases list", { isTerminal: true })).out).toContain("<good>held");
  });

  it("a lease is described, and one that is not there is exit code 3", async () => {
    expect((await see("leases describe tests/plain")).out).toMatch(/^Holder: +p1$/m);
    const { code, err } = await see("leases get tests/nothing");
    expect({ code, err }).toEqual({ code: 3, err: "tenure: lease tests/nothing does not exist\n" });
  });

  it("a watch tells the present state and then every change, as rows in a pipe and in place on a terminal", async () => {
    for (const isTerminal of [false, true]) {
      const stopped = new AbortController();
      let seen = "";
      const onOutput = (out: string): void => {
        seen = out;
      };
      const options = { isTerminal, signal: stopped.signal, onOutput };
      const watching = see("leases list -w --namespace watched", options);
      const lock = await (await client(`w-${isTerminal}`)).lock("watched/it");
      await waitFor(() => steady(seen).includes(`w-${isTerminal}`), { timeoutMs: 60_000 });
      await lock.release();
      await waitFor(() => /free/.test(seen.slice(seen.lastIndexOf("held"))), { timeoutMs: 60_000 });
      stopped.abort();
      expect((await watching).code).toBe(0);
      expect(seen.includes("\u001b[")).toBe(isTerminal);
      expect(seen.match(/^LEASE/gm)?.length ?? 0).toBe(isTerminal ? 0 : 1);
    }
  });

  it.each([
    ["candidates list tests/scheduler", "binaryVersion"],
    ["elections list", "n1"],
    ["identities list", "printer"],
    ["leader tests/plain", "p1"],
  ])("%s -w begins with what is there, for programs one document a line", async (line, expected) => {
    expect(await firstWatched(line)).toContain(expected);
  });

  it("leader is one word, JSON for programs, and exit code 3 when nobody leads", async () => {
    expect(await see("leader tests/plain")).toMatchObject({ code: 0, out: "p1\n" });
    expect(JSON.parse((await see("leader tests/plain -o json")).out)).toMatchObject({ leader: "p1" });
    expect(await see("leader tests/nobody")).toEqual({ code: 3, out: "", err: "nobody leads tests/nobody\n" });
    expect((await see("leader plain --namespace tests")).out).toBe("p1\n");
  });

  it("elections and candidates show who stands and who leads", async () => {
    expect(steady((await see("candidates list tests/scheduler")).out)).toMatch(
      /^LEASE CANDIDATE STATUS BINARY COMPATIBILITY PRIORITY SEEN\ntests\/scheduler n1 \S+ 1.20.0 1.20.0 - SPAN\ntests\/scheduler n2 /,
    );
    expect((await see("candidates describe tests/scheduler n2")).out).toMatch(/^Binary version: +1.21.0$/m);
    expect((await see("candidates get tests/scheduler n3")).code).toBe(3);
    expect(steady((await see("elections list")).out)).toContain("tests/scheduler led n1 NUMBER SPAN 2 ");
    expect((await see("elections describe tests/scheduler")).out).toMatch(/^Leader: +n1$/m);
    expect(JSON.parse((await see("elections get tests/scheduler -o json")).out).candidates).toHaveLength(2);
  });

  it("identities show who is alive", async () => {
    const { out } = await see("identities -o json");
    const [identity] = JSON.parse(out);
    expect(identity).toMatchObject({ profile: { component: "printer", version: "2.0.0", beatInterval: "10s" } });
    expect((await see("identities list")).out).toMatch(/printer +live +2.0.0/);
    expect((await see(["identities", "describe", identity.id])).out).toMatch(/^Component: +printer$/m);
    expect((await see("identities get nobody")).code).toBe(3);
    const collection = await see("identities gc --dry-run");
    expect(collection.code).toBe(0);
    expect(collection.err).toContain("there are no dead records");
  });

  it("explain ranks with reasons and dry-run says who would lead", async () => {
    const { out } = await see("explain tests/scheduler");
    expect(out).toContain("kept (n1 holds)");
    expect(out).toMatch(/^1 +n1 \(holds\) +1.20.0/m);
    const dry = await see("dry-run tests/scheduler --gone n1");
    expect(dry.out).toContain("elected n2 (nobody holds)");
    expect(dry.err).toBe("the leader changes\n");
    expect(JSON.parse((await see("dry-run tests/scheduler --silent n2 -o json")).out)).toHaveProperty("after.outcome");
    expect((await see("dry-run tests/scheduler")).code).toBe(2);
    expect((await see("explain tests/scheduler --decision none")).code).toBe(3);
  });

  it("doctor says what it checked, and timings what durations tolerate", async () => {
    const { code, out } = await see("doctor --skip-probe");
    expect([0, 1]).toContain(code);
    expect(out).toMatch(/\d+ findings in \d+\.\d s, worst: \w+/);
    const timings = await see("timings explain --lease-duration 6s");
    expect(timings.out).toContain("after a crash of the leader another leads within 6s");
    expect((await see("timings explain --usable-term 14s")).code).toBe(2);
  });
});

describe("changing", patient, () => {
  it("asks on a terminal, changes nothing without a yes, and needs --yes where nobody can be asked", async () => {
    const line = "priority set tests/scheduler n1 7";
    const declined = await see(line, { isTerminal: true, answer: false });
    expect(declined.code).toBe(1);
    expect(declined.err).toMatch(/n1 .*\nAbout to give n1 the priority 7. Go on\? \[y\/N\] nothing was changed\n$/s);
    expect((await see(line)).code).toBe(2);
    expect((await see(`${line} --dry-run`)).err).toContain(
      "dry run: would give n1 the priority 7; nothing was changed",
    );
    expect(JSON.parse((await see("candidates get tests/scheduler n1 -o json")).out).priority).toBeUndefined();
    expect((await see(`${line} --ttl 1h`, { isTerminal: true, answer: true })).code).toBe(0);
    const { out } = await see("candidates get tests/scheduler n1 -o json");
    expect(JSON.parse(out).priority).toMatchObject({ value: 7, expiresAfter: "3600s" });
    expect((await see("priority clear tests/scheduler n1 -y")).code).toBe(0);
  });

  it("a change that came between the question and the answer is exit code 4", async () => {
    const answer = async () => (await see("cordon tests/scheduler n2 -y --reason meanwhile")).code === 0;
    expect((await see("priority set tests/scheduler n2 4", { isTerminal: true, answer })).code).toBe(4);
    expect(JSON.parse((await see("candidates get tests/scheduler n2 -o json")).out).priority).toBeUndefined();
    expect((await see("uncordon tests/scheduler n2 -y")).code).toBe(0);
  });

  it("cordon and uncordon a candidate, with the reason kept", async () => {
    expect((await see("cordon tests/scheduler n2 --yes")).code).toBe(2);
    expect((await see("cordon tests/scheduler n2 --yes --reason disk")).out).toMatch(/n2 +cordoned/);
    expect((await see("candidates describe tests/scheduler n2")).out).toMatch(/^Cordon: +by \S+: disk$/m);
    expect((await see("uncordon tests/scheduler n2 --yes")).out).not.toContain("cordoned");
  });

  it("strategy set moves the leader, and history tells the whole story", async () => {
    const dry = await see("strategy set tests/scheduler NewestCompatibilityVersion --dry-run");
    expect(dry.err).toContain("end-of-term n2 (n1 holds)");
    expect(await leaderOf("scheduler")).toBe("n1");
    const line = ["strategy", "set", "tests/scheduler", "NewestCompatibilityVersion", "-y", "--reason", "go forward"];
    expect((await see(line)).code).toBe(0);
    await waitFor(async () => (await leaderOf("scheduler")) === "n2", { timeoutMs: 60_000 });
    const history = await see("history tests/scheduler");
    expect(steady(history.out)).toMatch(
      /^HOLDER TOKEN FROM HELD ENDED WHY\nn2 NUMBER INSTANT SPAN holds -\nn1 NUMBER INSTANT SPAN \w+ /,
    );
    // How wide each stands depends on how long it took.
    expect(history.out).toMatch(/^n1 +█+·*$/m);
    expect(history.out).toMatch(/^n2 +·+█*▶$/m);
    expect((await see("history tests/scheduler -o jsonl")).out).toContain('"reason":"go forward"');
    expect((await see("strategy set tests/scheduler Fastest -y")).code).toBe(2);
    expect((await see("strategy clear tests/scheduler -y")).code).toBe(0);
    expect((await see("history tests/nothing")).code).toBe(3);
  });

  it("transfer and step-down end a term for another", async () => {
    await waitFor(async () => (await leaderOf("scheduler")) === "n1", { timeoutMs: 60_000 });
    expect((await see("transfer tests/scheduler --to n2 --yes")).code).toBe(2);
    expect((await see("transfer tests/scheduler --to nobody --reason x --yes")).code).toBe(3);
    // The strategy would move it back at once: a priority holds it there.
    expect((await see("strategy set tests/scheduler Priority -y")).code).toBe(0);
    expect((await see("priority set tests/scheduler n2 9 -y")).code).toBe(0);
    await waitFor(async () => (await leaderOf("scheduler")) === "n2", { timeoutMs: 60_000 });
    expect((await see("step-down tests/scheduler --reason rest --cool-down 1h --yes")).out).toContain(
      "tests/scheduler",
    );
    await waitFor(async () => (await leaderOf("scheduler")) === "n1", { timeoutMs: 60_000 });
    const back = await see("transfer tests/scheduler --to n2 --reason back --yes --dry-run");
    expect([0, 4]).toContain(back.code);
  });

  it("guarded values are read by anyone and written only under the newest term", async () => {
    expect((await see("guard get last-run --lease tests/plain")).out).toBe("noon\n");
    expect((await see("guard get nothing --lease tests/plain")).code).toBe(3);
    expect((await see("guard list --lease tests/plain")).out).toMatch(/last-run +noon +\d+ +p1/);
    expect((await see("guard put a b --lease tests/plain --token 1")).code).toBe(4);
    expect((await see("guard put a b")).code).toBe(2);
  });

  it("apply creates and updates leases from documents, and refuses the whole file for one mistake", async () => {
    await using folder = await tempDirectory();
    const file = join(folder.path, "leases.yaml");
    const document = (name: string, spec: string) =>
      `apiVersion: tenure.dev/v1\nkind: Lease\nmetadata: { namespace: tests, name: ${name} }\nspec:\n  ${spec}\n`;
    writeFileSync(file, `${document("made", "lockDelay: 2s")}---\n${document("other", "lokDelay: 2s")}`);
    const refused = await see(["apply", "-f", file, "--yes"]);
    expect(refused.code).toBe(2);
    expect(refused.err).toContain("spec.lokDelay is unknown");
    expect((await see("leases get tests/made")).code).toBe(3);
    writeFileSync(file, document("made", "lockDelay: 2s"));
    expect((await see(["apply", "-f", file, "--yes"])).err).toContain("done: create tests/made with lockDelay");
    writeFileSync(file, document("made", "labels: { team: billing }"));
    expect((await see(["apply", "-f", file, "--yes"])).code).toBe(0);
    const { spec } = JSON.parse((await see("leases get tests/made -o json")).out);
    expect(spec).toMatchObject({ lockDelay: "2s", labels: { team: "billing" } });
  });

  it("migrations are validated, applied, followed and ended", async () => {
    await using folder = await tempDirectory();
    const file = join(folder.path, "migration.yaml");
    const document = (component: string) =>
      `# comment\n---\nkind: LeaderMigrationConfiguration\napiVersion: controllermanager.config.k8s.io/v1\nleaderName: moves\ncontrollerLeaders:\n  - name: route\n    component: ${component}\n`;
    writeFileSync(file, document("''"));
    const invalid = await see(["migrations", "validate", "-f", file]);
    expect(invalid.code).toBe(4);
    expect(invalid.err).toContain(`${file}:8:`);
    expect(invalid.err).toContain("error: controllerLeaders[0].component must not be empty");
    expect((await see(["apply", "-f", file, "--yes"])).code).toBe(4);
    writeFileSync(file, document('"*"'));
    expect((await see(["migrations", "validate", "-f", file])).code).toBe(0);
    expect((await see(["apply", "-f", file, "--dry-run"])).err).toContain("dry run: would put moves in force");
    expect((await see("migrations get moves")).code).toBe(3);
    expect((await see(["migrations", "apply", "-f", file, "--yes"])).out).toMatch(/default\/moves +1 +\* /);
    expect((await see("migrations list -o name")).out).toBe("default/moves\n");
    expect(await firstWatched("migrations list")).toContain("moves");
    const apply = ["migrations", "apply", "-f", file];
    writeFileSync(file, document("new"));
    const answer = async () => (await see([...apply, "--yes"])).code === 0;
    const between = await see([...apply, "--coordinated"], { isTerminal: true, answer });
    expect(between.code).toBe(4);
    expect(between.err).toMatch(/default\/moves +1 +\* .*\nAbout to put moves in force/s);
    expect((await see("migrations describe moves")).out).toContain("leaderName: moves");
    expect((await see("migrations status moves")).out).toMatch(/^route +- +- /m);
    expect((await see("migrations delete moves --yes")).code).toBe(0);
    expect((await see("migrations delete moves --yes")).code).toBe(3);
  });

  it("leases are deleted and terms are released against their holders' will", async () => {
    expect((await see("leases delete tests/made --yes")).code).toBe(0);
    expect((await see("leases get tests/made")).code).toBe(3);
    expect((await see("leases release tests/plain --yes")).code).toBe(2);
    expect((await see("leases release tests/plain --reason hangs --yes")).code).toBe(0);
    // The tombstone itself is gone as soon as the holder has noticed.
    expect((await see("history tests/plain -o jsonl")).out).toContain('"reason":"hangs"');
  });
});

describe.runIf(process.env.TENURE_LONG === "1")("the demo", { timeout: 600_000 }, () => {
  it("tells its story to the end", async () => {
    const demo = startScript(demoFile, { args: [deployment.grpc()] });
    expect((await demo.waitForExit({ timeoutMs: 600_000 })).code, demo.output.tail(40)).toBe(0);
    const told = demo.output.all.join("\n");
    expect(told).toMatch(
      /a fleet of three starts.*leads with token.*an upgrade.*is killed.*route runs in new-manager/s,
    );
    expect(told).toContain("What to try next");
  });
});
