import { connect } from "@tenure/sdk";
import { type Deployment, waitFor } from "@tenure/testkit";

/** One thing that is done to a running deployment. */
type Step = (deployment: Deployment, partition: number) => Promise<void>;

/** Something that happens to a running deployment. Clients are to go on after each step. */
export interface Strike {
  readonly name: string;
  readonly steps: readonly Step[];
  /** Nobody is left who knows what watches were told: they begin again with the present state. */
  readonly forgets?: boolean;
}

/** The outages that a holder inside its term survives. */
export const strikes: readonly Strike[] = [
  {
    name: "every gateway is killed and started again",
    forgets: true,
    steps: [
      async (deployment) => {
        const instances = deployment.running("gateway");
        await Promise.all(instances.map((instance) => deployment.process(instance).kill9()));
        for (const instance of instances) await deployment.start("gateway", instance);
      },
    ],
  },
  { name: "gateways are killed one after the other, and another takes their clients", steps: inTurn("kill") },
  { name: "gateways are stopped one after the other, and another takes their clients", steps: inTurn("stop") },
  {
    name: "NATS is killed and started again",
    steps: [
      async ({ nats }) => {
        await nats.kill9();
        await nats.restart();
      },
    ],
  },
  {
    name: "the lease store that owns the lease is killed",
    steps: [
      async (deployment, partition) => {
        const owner = deployment.ownerOf(partition);
        await deployment.process(owner).kill9();
        await waitFor(() => deployment.ownerOf(partition) !== owner, { describe: "another owner", timeoutMs: 120_000 });
        await deployment.start("lease-store", owner);
      },
    ],
  },
];

/** Takes each gateway away in turn, the other being there: whichever a client is at, it has to move once. */
function inTurn(how: "kill" | "stop"): readonly Step[] {
  const end = async (deployment: Deployment, instance: string) => {
    const process = deployment.process(instance);
    await (how === "kill" ? process.kill9() : process.stop(30_000));
  };
  return [
    (deployment) => end(deployment, "gateway-1"),
    async (deployment) => {
      await deployment.start("gateway", "gateway-1");
      await untilItKnows(deployment, "gateway-1");
    },
    (deployment) => end(deployment, "gateway-2"),
    async (deployment) => {
      await deployment.start("gateway", "gateway-2");
      await untilItKnows(deployment, "gateway-2");
    },
  ];
}

/** Resolves when a gateway has read the log and answers from what it read. */
async function untilItKnows(deployment: Deployment, instance: string): Promise<void> {
  await deployment.process(instance).waitForLine("gRPC listens", { timeoutMs: 120_000 });
  await using tenure = await connect({
    endpoint: deployment.grpc(instance),
    renewal: "inline",
    connectTimeout: "60s",
  });
  await waitFor(() => tenure.leases.list({}, { consistency: "plain" }).next(), {
    describe: `${instance} to answer from the log`,
    timeoutMs: 120_000,
  });
}
