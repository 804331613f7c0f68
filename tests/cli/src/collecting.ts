import { connect } from "@tenure/sdk";
import { waitFor } from "@tenure/testkit";
import { expect, it } from "vitest";
import { CuttableProxy } from "./cuttable-proxy.ts";
import { deployment, see } from "./scene.ts";

/** Collection of an instance that fell silent. */
export function collecting(): void {
  it("a collection that holds back is an alarm, and an operator's word collects what is dead", async () => {
    await using proxy = await CuttableProxy.create(deployment.grpc());
    const register = { component: "lost", version: "1.0.0", beatInterval: "500ms", validity: "3s" } as const;
    await using _lost = await connect({ endpoint: proxy.endpoint, connectTimeout: "60s", register });
    await waitFor(async () => (await see("identities")).out.includes("lost"), { timeoutMs: 60_000 });
    proxy.cut();
    const pattern = /^ {2}warning COLLECTION_HELD_BACK identities: 1 of 2 identities look dead.* --go-on (\S+) /m;
    const id = await waitFor(async () => pattern.exec((await see("status")).out)?.[1], { timeoutMs: 60_000 });
    expect((await see("identities gc --yes")).code).toBe(4);
    const goOn = `identities gc --go-on ${id} --reason gone`;
    expect((await see(`${goOn} --dry-run`)).out).toMatch(/^identity \S+ +held-back +\d/m);
    expect((await see(goOn, { isTerminal: true, answer: false })).code).toBe(1);
    const { code, err, out } = await see(`${goOn} --yes`);
    expect(code, err).toBe(0);
    expect(out).toMatch(/^identity \S+ +collected +\d/m);
    expect((await see("identities")).out).not.toContain("lost");
    await waitFor(async () => (await see("status")).out.includes("alarms      none\n"), { timeoutMs: 60_000 });
    proxy.mend();
  });
}
