import { CandidateServiceGetRequest, ElectionServiceSetStrategyRequest, StrategyKind } from "@tenure/contracts";
import { waitFor } from "@tenure/testkit";
import type { Deployment } from "./deployment.ts";
import type { Fleet } from "./fleet.ts";

const namespace = "tests";
const old = { binaryVersion: "1.20.0" };
const newer = { binaryVersion: "1.21.0" };

/** Told between two steps, so that something may go wrong there. */
export type Interlude = () => Promise<void>;

/**
 * The three stories of KEP-4355 one after the other, by as many processes as there are names: a canary by strategy, an
 * upgrade node by node, and a rollback. Throws when another leads than the story says.
 */
export async function playStories(
  deployment: Deployment,
  fleet: Fleet,
  names: readonly string[],
  interlude: Interlude = async () => undefined,
): Promise<void> {
  const [first = "", second = ""] = names;
  const leaseName = fleet.lease.slice(namespace.length + 1);
  const lease = { namespace, name: leaseName };
  for (const name of names) await fleet.start(name, old);
  await fleet.ledBy(old);
  await interlude();

  await fleet.replace(second, newer);
  await registered(deployment, { lease, name: second }, newer.binaryVersion);
  await setStrategy(deployment, lease, StrategyKind.NEWEST_COMPATIBILITY_VERSION);
  await fleet.ledBy(newer);
  await interlude();
  await setStrategy(deployment, lease, undefined);
  await fleet.ledBy(old);

  const rest = names.filter((name) => name !== second);
  for (const [place, name] of rest.entries()) {
    await interlude();
    await fleet.replace(name, newer);
    await registered(deployment, { lease, name }, newer.binaryVersion);
    await fleet.ledBy(place < rest.length - 1 ? old : newer);
  }
  await interlude();
  await fleet.replace(first, old);
  await fleet.ledBy(old);
}

async function setStrategy(
  { elections }: Deployment,
  lease: { readonly namespace: string; readonly name: string },
  kind: StrategyKind | undefined,
): Promise<void> {
  const strategy = kind === undefined ? {} : { strategy: { kind } };
  await elections.setStrategy(
    ElectionServiceSetStrategyRequest.fromPartial({ lease, ...strategy, note: { reason: "canary" } }),
  );
}

async function registered(
  { candidates }: Deployment,
  candidate: { readonly lease: { readonly namespace: string; readonly name: string }; readonly name: string },
  version: string,
): Promise<void> {
  const look = async () => {
    const request = CandidateServiceGetRequest.fromPartial({ candidate });
    const found = await candidates.get(request).catch(() => undefined);
    return found?.candidate?.spec?.binaryVersion === version;
  };
  await waitFor(look, { timeoutMs: 60_000, describe: `${candidate.name} to register as ${version}` });
}
