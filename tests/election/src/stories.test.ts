import { ElectionServiceSetStrategyRequest, StrategyKind } from "@tenure/contracts";
import { waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Deployment, startDeployment } from "./deployment.ts";
import { Fleet } from "./fleet.ts";

const version = (minor: number) => ({ binaryVersion: `1.${minor}.0` });
const names = ["a", "b", "c"] as const;

describe("the stories of coordinated election, with three processes", () => {
  let deployment: Deployment;

  beforeAll(async () => {
    deployment = await startDeployment();
  }, 120_000);

  afterAll(() => deployment[Symbol.asyncDispose](), 60_000);

  const shown = (fleet: Fleet) => fleet.led.map(({ name, version: led }) => `${name} ${led}`);

  it("[92] a node-by-node upgrade: the old version leads until the last old one goes", async () => {
    await using fleet = new Fleet(deployment.grpc("gateway-1"), "tests/upgrade");
    for (const name of names) await fleet.start(name, version(20));
    await fleet.leads("a");
    await fleet.replace("a", version(21));
    await fleet.leads("b");
    await fleet.replace("b", version(21));
    await fleet.leads("c");
    await fleet.replace("c", version(21));
    await fleet.leads("a");
    expect(shown(fleet)).toEqual(["a 1.20.0", "b 1.20.0", "c 1.20.0", "a 1.21.0"]);
    expect(fleet.overlaps).toEqual([]);
  }, 180_000);

  it("[92] a rollback: the node that is rolled back leads at once", async () => {
    await using fleet = new Fleet(deployment.grpc("gateway-1"), "tests/rollback");
    for (const name of names) await fleet.start(name, version(21));
    await fleet.leads("a");
    await fleet.replace("c", version(20));
    await fleet.leads("c");
    expect(shown(fleet)).toEqual(["a 1.21.0", "c 1.20.0"]);
    expect(fleet.overlaps).toEqual([]);
  }, 180_000);

  it("[69] [71] a canary by strategy: the new version leads when the operator says so, and the old one again after", async () => {
    await using fleet = new Fleet(deployment.grpc("gateway-1"), "tests/canary");
    for (const name of names) await fleet.start(name, version(20));
    const { token } = await fleet.leads("a");
    await fleet.replace("b", version(21));
    const candidate = { lease: { namespace: "tests", name: "canary" }, name: "b" };
    const versionOfB = async () => {
      const found = await deployment.candidates.get({ candidate, read: undefined }).catch(() => undefined);
      return found?.candidate?.spec?.binaryVersion;
    };
    await waitFor(async () => (await versionOfB()) === "1.21.0", { timeoutMs: 60_000, describe: "b to register" });
    const set = (kind: StrategyKind | undefined) =>
      deployment.elections.setStrategy(
        ElectionServiceSetStrategyRequest.fromPartial({
          lease: { namespace: "tests", name: "canary" },
          ...(kind === undefined ? {} : { strategy: { kind } }),
          note: { reason: "canary" },
        }),
      );
    const { consequence } = await set(StrategyKind.NEWEST_COMPATIBILITY_VERSION);
    expect(consequence?.ranking[0]?.candidate?.key?.name).toBe("b");
    const canary = await fleet.leads("b", token);
    await set(undefined);
    await fleet.leads("a", canary.token);
    expect(shown(fleet)).toEqual(["a 1.20.0", "b 1.21.0", "a 1.20.0"]);
    expect(fleet.overlaps).toEqual([]);
  }, 180_000);

  it("[56] a crash: the next one leads when the term has run out", async () => {
    await using fleet = new Fleet(deployment.grpc("gateway-1"), "tests/crash");
    for (const name of names) await fleet.start(name, version(20));
    await fleet.leads("a");
    await fleet.kill("a");
    await fleet.leads("b");
    expect(fleet.overlaps).toEqual([]);
  }, 180_000);
});
