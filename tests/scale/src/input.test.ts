import { type Deployment, startDeployment } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Carrier, SessionCarrier, UnaryCarrier } from "./input/carriers.ts";
import { LogWitness } from "./input/log-witness.ts";
import { encode } from "./input/request.ts";
import { samples } from "./input/samples.ts";
import { methods } from "./input/schema.ts";
import { tryAll } from "./input/try-all.ts";
import { refusalIn } from "./input/verdict.ts";
import { makeWorld, recordOf } from "./input/world.ts";

let deployment: Deployment;
let witness: LogWitness;

beforeAll(async () => {
  deployment = await startDeployment({ args: { "lease-store": ["--maximum-lease-duration=1d"] } });
  witness = new LogWitness(deployment.bus);
}, 180_000);

afterAll(async () => {
  witness?.[Symbol.dispose]();
  await deployment?.[Symbol.asyncDispose]();
}, 60_000);

it("every unary call of the services has a sample, and every sample a call", () => {
  expect(Object.keys(samples).toSorted()).toEqual(methods.map(({ name }) => name).toSorted());
});

const carriers: Readonly<Record<string, (endpoint: string) => Carrier>> = {
  unary: (endpoint) => new UnaryCarrier(endpoint),
  session: (endpoint) => new SessionCarrier(endpoint, "bad-input"),
};

describe.each(Object.keys(carriers))("over gRPC, by %s call", (way) => {
  let carrier: Carrier;

  beforeAll(() => {
    const endpoint = deployment.grpc();
    carrier = carriers[way]?.(endpoint) as Carrier;
  });

  afterAll(() => carrier?.[Symbol.dispose]());

  it.each(methods.map((method) => [method.name, method] as const))(
    "%s refuses every bad request with field and rule, and nothing changes",
    async (_, method) => {
      const sample = samples[method.name];
      if (sample === undefined) throw new Error(`no sample of ${method.name}`);
      const part = `${way}-${method.name.toLowerCase().replace(".", "-")}`;
      const world = await makeWorld(carrier, deployment.bus, part);
      const before = await recordOf(carrier, world.held);
      const barrier = () => recordOf(carrier, world.held);
      await witness.changesSince(world.partition, barrier);

      const another = (place: number) => makeWorld(carrier, deployment.bus, `${part}-${place}`);
      expect(await tryAll(carrier, method, sample, world, another)).toEqual([]);
      expect(await witness.changesSince(world.partition, barrier)).toEqual([]);
      expect(await recordOf(carrier, world.held)).toMatchObject({ ...before, freeAfter: expect.anything() });

      // What was spoiled is good: the flaw alone made the difference.
      const good = await carrier.call(method, encode(method, sample.make(world)));
      expect(refusalIn(method.name, good)).toBeUndefined();
      witness.forget(part);
    },
    180_000,
  );
});
