import { waitFor } from "@tenure/testkit";
import { expect, it } from "vitest";
import { steady } from "./command-line.ts";
import { client, firstWatched, see } from "./scene.ts";

/** The commands that show something. */
export function seeing(): void {
  it("status is one screen, in colours on a terminal", async () => {
    // All are there; that the whole is ready is told a moment later.
    await waitFor(async () => (await see("status")).code === 0, { timeoutMs: 60_000 });
    const { out } = await see("status", { isTerminal: true });
    expect(out).toContain("is <good>ready</good> (development)");
    expect(out).toMatch(/^lease-store +<good>1\/1/m);
    expect(out).toContain("partitions  8 of 8 owned");
    expect(out).toContain(
      "leases      2 in all, 2 held, 0 free\n            2 candidates, 1 identities\nleaderless  none\nalarms      none\n",
    );
    expect(out.split("\n").every((line) => line.replaceAll(/<.?\w+>/g, "").length <= 80)).toBe(true);
    expect((await see("status -o wide")).out).toMatch(/^SERVICE +READY +VERSION +INSTANCES$/m);
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
    expect((await see("identities gc")).code).toBe(2);
    const now = await see("identities gc --yes");
    expect(now).toMatchObject({ code: 0, out: "" });
    expect(now.err).toMatch(/^\S+ collects: 0 of 1 identities are dead[^\n]*\nthere are no dead records\n$/);
    expect((await see("identities gc --yes --go-on none --reason x")).code).toBe(4);
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
    for (const [flags, expected] of [
      ["--drained n1", "n2"],
      ["--holder-gone", "n1"],
      ["--zone-gone nowhere", "kept (n1 holds)"],
      ["--uncordoned n2 --answers n2", "kept (n1 holds)"],
      ["--strategy NewestCompatibilityVersion", "n2"],
      ["--gone n1 --gone n2 --candidate n4,binary=1.22.0,zone=b,priority=3", "n4"],
    ]) {
      const { code, err, out } = await see(`dry-run tests/scheduler ${flags}`);
      expect(code, err).toBe(0);
      expect(out.slice(out.indexOf("if that were so")), flags).toContain(expected);
    }
    expect((await see("dry-run tests/scheduler --candidate n4,colour=red")).code).toBe(2);
    expect((await see("explain tests/scheduler --decision none")).code).toBe(3);
  });

  it("doctor says what it checked, and timings what durations tolerate", async () => {
    const { code, out } = await see("doctor");
    expect(code, out).toBe(0);
    expect(out).toMatch(
      /^ok +COMPARE_AND_SET stream TENURE_PROBE: \d+ rounds of compare-and-set had one winner each$/m,
    );
    expect(out).toMatch(/^ok +SERVICE_READY election: 1 of 1 instances are ready$/m);
    // Tests have no user of the system account.
    expect(out).toMatch(/^advice +SERVERS_UNREADABLE /);
    expect(out).toMatch(/^1 problem, \d\d checks well in \d+\.\d s; worst: advice$/m);
    expect((await see("doctor --skip-probe -o json")).out).not.toContain("COMPARE_AND_SET");
    const timings = await see("timings explain --lease-duration 6s");
    expect(timings.out).toContain("after a crash of the leader another leads within 6s");
    expect((await see("timings explain --usable-term 14s")).code).toBe(2);
  });
}
