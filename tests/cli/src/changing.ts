import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDirectory, waitFor } from "@tenure/testkit";
import { expect, it } from "vitest";
import { steady } from "./command-line.ts";
import { client, clients, firstWatched, leaderOf, see } from "./scene.ts";

/** The commands that change something. */
export function changing(): void {
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
    expect((await see(`${line} --ttl 1h --reason rest`, { isTerminal: true, answer: true })).code).toBe(0);
    const { out } = await see("candidates get tests/scheduler n1 -o json");
    expect(JSON.parse(out).priority).toMatchObject({ value: 7, expiresAfter: "3600s" });
    expect((await see("candidates describe tests/scheduler n1")).out).toMatch(
      /^Priority: +7 for \S+, given by \S+: rest$/m,
    );
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
    const newest = (await see("history tests/scheduler --limit 1")).out;
    expect(steady(newest)).toMatch(/^HOLDER TOKEN FROM HELD ENDED WHY\nn2 [^\n]+\n\n/);
    const newestLines = (await see("history tests/scheduler --limit 1 -o jsonl")).out.trim().split("\n");
    expect(newestLines.map((one) => JSON.parse(one)).every(({ holder = "n2" }) => holder === "n2")).toBe(true);
    expect((await see("history tests/scheduler --limit 0")).code).toBe(2);
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
    expect(back.code).toBe(4);
    expect(back.err).toContain("candidate n2 of lease tests/scheduler cannot be elected: coolDown");
  });

  it("guarded values are read by anyone and written only under the newest term", async () => {
    expect((await see("guard get last-run --lease tests/plain")).out).toBe("noon\n");
    expect((await see("guard get nothing --lease tests/plain")).code).toBe(3);
    expect((await see("guard list --lease tests/plain")).out).toMatch(/last-run +noon +\d+ +p1/);
    expect((await see("guard put a b --lease tests/plain --token 1")).code).toBe(4);
    expect((await see("guard put a b")).code).toBe(2);
    const renewKey = clients.find(({ holder }) => holder === "p1")?.session.renewKey ?? new Uint8Array();
    const { token } = JSON.parse((await see("leader tests/plain -o json")).out);
    const environment = {
      TENURE_LEASE: "tests/plain",
      TENURE_TOKEN: token,
      TENURE_RENEW_KEY: Buffer.from(renewKey).toString("hex"),
    };
    expect((await see("guard put mark here", { environment })).err).toMatch(/^wrote mark at revision \d+\n$/);
    expect((await see("guard put mark there --expect 0", { environment })).code).toBe(4);
    expect((await see("guard delete mark", { environment })).err).toBe("deleted mark\n");
    expect((await see("guard delete mark", { environment })).err).toBe("there was no mark\n");
    expect((await see("guard delete mark --lease tests/plain --token 1")).code).toBe(4);
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
    expect((await see(["apply", "-f", file, "--yes", "--reason", "new"])).code).toBe(2);
    expect((await see(["apply", "-f", file, "--yes"])).err).toContain("done: create tests/made with lockDelay");
    writeFileSync(file, document("made", "labels: { team: billing }"));
    expect((await see(["apply", "-f", file, "--yes"])).code).toBe(0);
    const { spec } = JSON.parse((await see("leases get tests/made -o json")).out);
    expect(spec).toMatchObject({ lockDelay: "2s", labels: { team: "billing" } });
    writeFileSync(file, document("made", "drainBound: 1m\n  zonePreference: [north, south]\n  fallbackDelay: 30s"));
    expect((await see(["apply", "-f", file, "--yes"])).code).toBe(0);
    const { out } = await see("leases describe tests/made");
    expect(out).toMatch(/^Settings: +lockDelay 2s, drainBound 1m, fallbackDelay 30s$/m);
    expect(out).toMatch(/^Zones: +north, south$/m);
    expect(out.split("\n").every((line) => line.length <= 80)).toBe(true);
  });

  it("history says when terms are missing that were", async () => {
    const tenure = await client("often");
    // 32 lines are kept: its creation and 16 terms are one more.
    for (let term = 0; term < 16; term += 1) await (await tenure.lock("often")).release();
    expect((await see("history tests/often")).err).toMatch(/^older terms were dropped/);
    expect((await see("history tests/often --limit 3")).err).toBe("");
  });

  it("lists show the namespace of the context, and all if told so", async () => {
    await using folder = await tempDirectory();
    const environment = { TENURE_CONFIG: join(folder.path, "config.yaml") };
    const list = async (...more: string[]) =>
      (await see(["leases", "list", "-o", "name", ...more], { environment })).out;
    expect((await see("context set here --namespace nowhere", { environment })).code).toBe(0);
    expect(await list()).toBe("");
    expect(await list("--namespace", "")).toContain("tests/plain\n");
    expect(await list("--namespace", "tests")).toContain("tests/plain\n");
  });

  it("migrations are validated, applied, followed and ended", async () => {
    await using folder = await tempDirectory();
    const file = join(folder.path, "migration.yaml");
    const document = (component: string) =>
      `# comment\n---\nkind: LeaderMigrationConfiguration\napiVersion: controllermanager.config.k8s.io/v1\nleaderName: moves\ncontrollerLeaders:\n  - name: route\n    component: ${component}\n`;
    writeFileSync(file, document("''"));
    const invalid = await see(["migrations", "validate", "-f", file]);
    expect(invalid.code).toBe(4);
    expect(invalid.err).toBe("");
    expect(invalid.out).toContain(`${file}:8:`);
    expect(invalid.out).toContain("error: controllerLeaders[0].component must not be empty");
    expect(invalid.out).toContain(`${file}: cannot be applied\n`);
    const json = await see(["migrations", "validate", "-f", file, "-o", "json"]);
    expect(json).toMatchObject({ code: 4, err: "" });
    expect(JSON.parse(json.out).findings).toMatchObject([{ field: "controllerLeaders[0].component" }]);
    const refused = await see(["apply", "-f", file, "--yes"]);
    expect(refused).toMatchObject({ code: 4, out: "" });
    expect(refused.err).toContain("must not be empty");
    writeFileSync(file, document('"*"'));
    const valid = await see(["migrations", "validate", "-f", file]);
    expect(valid).toMatchObject({ code: 0, err: "" });
    expect(valid.out).toMatch(/: alarm: nobody can run route .*\n.*migration.yaml: can be applied\n$/);
    const twice = await see(["migrations", "validate", "-f", file, "-f", file, "-o", "jsonl"]);
    expect(
      twice.out
        .trim()
        .split("\n")
        .map((one) => JSON.parse(one).valid),
    ).toEqual([true, true]);
    expect((await see(["migrations", "validate", "-f", file, "-o", "yaml"])).out).toMatch(/^valid: true$/m);
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
    // Nobody takes part: instances say what is wrong once a second.
    const orphan = "MIGRATION_ORPHANED default/route: nobody can run route of configuration moves";
    await waitFor(async () => (await see("status")).out.includes(`alarms      1\n  warning ${orphan}`), {
      timeoutMs: 60_000,
    });
    expect((await see("doctor --skip-probe")).out.startsWith(`warning ${orphan}`)).toBe(true);
    expect((await see("migrations delete moves --yes")).code).toBe(0);
    await waitFor(async () => (await see("status")).out.includes("alarms      none"), { timeoutMs: 60_000 });
    expect((await see("migrations delete moves --yes")).code).toBe(3);
  });

  it("status names the leases that have candidates and no leader", async () => {
    for (const name of ["n2", "n1"])
      expect((await see(`cordon tests/scheduler ${name} -y --reason rest`)).code).toBe(0);
    expect((await see("leases release tests/scheduler --reason rest --yes")).code).toBe(0);
    await waitFor(async () => (await see("status")).out.includes("leaderless  1: tests/scheduler\n"), {
      timeoutMs: 60_000,
    });
    for (const name of ["n2", "n1"]) expect((await see(`uncordon tests/scheduler ${name} -y`)).code).toBe(0);
    await waitFor(async () => (await see("status")).out.includes("leaderless  none\n"), { timeoutMs: 60_000 });
  });

  it("leases are deleted and terms are released against their holders' will", async () => {
    expect((await see("leases delete tests/made --yes")).code).toBe(0);
    expect((await see("leases get tests/made")).code).toBe(3);
    expect((await see("leases release tests/plain --yes")).code).toBe(2);
    expect((await see("leases release tests/plain --reason hangs --yes")).code).toBe(0);
    // The tombstone itself is gone as soon as the holder has noticed.
    expect((await see("history tests/plain -o jsonl")).out).toContain('"reason":"hangs"');
  });
}
