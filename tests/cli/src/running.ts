import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDirectory, waitFor } from "@tenure/testkit";
import { expect, it } from "vitest";
import { start } from "./command-line.ts";
import { deployment, leaderOf, see } from "./scene.ts";

/** Programs that run under an elected leader's term. */
export function running(): void {
  it("exec --coordinated stands as a candidate with all that it says of itself, and runs when it is elected", async () => {
    await using folder = await tempDirectory();
    const [ready, go] = [join(folder.path, "ready"), join(folder.path, "go")];
    const script = `touch ${ready}; until test -e ${go}; do sleep 0.05; done`;
    const flags =
      "--coordinated --binary-version 1.2.3 --compatibility-version 1.2.0 --priority 5 --zone a --label k=v --label l=w --strategy Priority";
    const program = ["--identity", "c1", "-q", "--", "/bin/sh", "-c", script];
    const executed = see([..."exec tests/coordinated".split(" "), ...flags.split(" "), ...program]);
    await waitFor(() => existsSync(ready), { timeoutMs: 60_000 });
    expect(JSON.parse((await see("candidates get tests/coordinated c1 -o json")).out)).toMatchObject({
      spec: { binaryVersion: "1.2.3", compatibilityVersion: "1.2.0", zone: "a", labels: { k: "v", l: "w" } },
      priority: { value: 5 },
    });
    expect((await see("leases describe tests/coordinated")).out).toMatch(/^Strategy: +Priority/m);
    expect(await leaderOf("coordinated")).toBe("c1");
    writeFileSync(go, "");
    expect(await executed).toEqual({ code: 0, out: "", err: "" });
  });

  it("exec --restart runs the program again when its term is handed over and back", async () => {
    const hosts = ["h1", "h2"].map((identity) => {
      const flags = `--coordinated --binary-version 1.0.0 --restart --drain 5s --identity ${identity}`;
      const line = `exec tests/handed ${flags} -- sleep 600`;
      return start(deployment.grpc(), line.split(" "));
    });
    const led = async (by: string) => {
      await waitFor(async () => (await leaderOf("handed")) === by, { timeoutMs: 60_000 });
    };
    await waitFor(async () => (await see("candidates list tests/handed -o name")).out.split("\n").length === 3, {
      timeoutMs: 60_000,
    });
    const first = await waitFor(async () => (await leaderOf("handed")) || undefined, { timeoutMs: 60_000 });
    const other = first === "h1" ? "h2" : "h1";
    expect((await see("step-down tests/handed --cool-down 100ms --reason test --yes")).code).toBe(0);
    await led(other);
    // Refused until it has cooled down.
    const transfer = `transfer tests/handed --to ${first} --reason test --yes`;
    await waitFor(async () => (await see(transfer)).code === 0, { timeoutMs: 60_000 });
    await led(first);
    const holding = (host: (typeof hosts)[number]) =>
      host.output.all.filter((line) => line.includes("with token")).length;
    const counts = () => hosts.map(holding).toSorted();
    await waitFor(() => counts().join() === "1,2", { timeoutMs: 60_000 });
    await Promise.all(hosts.map((host) => host.stop()));
  });
}
