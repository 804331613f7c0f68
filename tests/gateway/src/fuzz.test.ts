import {
  encodeRenewals,
  LeaseServiceCreateRequest,
  LeaseServiceDefinition,
  publicServices,
  ReadConsistency,
} from "@tenure/contracts";
import { seededRandom } from "@tenure/kernel";
import { type Deployment, startDeployment, waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { framed, http2Noise, Noise } from "./fuzz/noise.ts";
import { holdings, Target } from "./fuzz/target.ts";
import { key, leases, take } from "./requests.ts";
import { callUnary, TestSession } from "./test-session.ts";

const isLong = process.env.TENURE_LONG === "1";
/** Inputs in all; a failing run is repeated with the same seed. */
const inputs = isLong ? 60_000 : 2_000;
const seed = Number(process.env.TENURE_FUZZ_SEED ?? (isLong ? Math.floor(Math.random() * 2 ** 31) : 42));
/** Inputs under way at once; below the limit of streams per connection. */
const atOnce = 40;
/** What the gateway may keep after the second half of the inputs beyond what it kept after the first. */
const mostGrowthMiB = 64;
const spareFiles = 5;

const { create, list } = LeaseServiceDefinition.methods;
/** An examination of the whole deployment is a legal answer to almost any bytes, and slow. */
const slow = "/tenure.v1.SystemService/Doctor";
const paths = Object.values(publicServices)
  .flatMap(({ fullName, methods }) => Object.values(methods).map(({ name }) => `/${fullName}/${name}`))
  .filter((path) => path !== slow);

let deployment: Deployment;
let address: string;

beforeAll(async () => {
  deployment = await startDeployment();
  address = deployment.grpc("gateway-1");
}, 120_000);

afterAll(() => deployment?.[Symbol.asyncDispose](), 120_000);

async function everything() {
  const read = { consistency: ReadConsistency.LINEARIZABLE, minRevision: 0n };
  const { leases: records } = await callUnary(address, leases, list, list.requestType.fromPartial({ read }));
  // Times of renewals are told anew with every answer; the rest is the record.
  return records.map(({ key: name, revision, uid, lastToken, holds }) => {
    return { name, revision, uid, lastToken, holds: holds.map(({ holder, token }) => [holder, token]) };
  });
}

/** One malformed input, and what came of it. */
function attack(noise: Noise, target: Target): Promise<unknown> {
  const path = noise.pick(paths as [string, ...string[]]);
  switch (noise.below(10)) {
    case 0:
      return target.raw(noise.bytes(400));
    case 1:
      return target.raw(http2Noise(noise));
    case 2:
      return target.request(path, framed(noise.message(), noise));
    case 3:
      return target.request(path, noise.bytes(300), {
        "content-type": noise.pick(["text/plain", "application/grpc+x"]),
      });
    case 4: {
      const timeout = noise.pick(["1n", "-1S", "99999999H", "x", "0m"]);
      const headers = { "grpc-timeout": timeout, "grpc-encoding": noise.pick(["gzip", "x", "identity"]) };
      return target.request(
        noise.below(2) === 0 ? path : `/${noise.bytes(8).toString("hex")}/x`,
        framed(noise.message()),
        headers,
      );
    }
    case 5: {
      const several = Array.from({ length: 1 + noise.below(4) }, () => framed(noise.message()));
      return target.request("/tenure.v1.SessionService/Session", Buffer.concat(several));
    }
    case 6:
      return target.request("/tenure.v1.LeaseService/KeepAlive", framed(noise.message()));
    case 7:
      return target.request(path, framed(noise.bytes(300)));
    default:
      return target.request(path, framed(noise.message()));
  }
}

async function attackMany(noise: Noise, count: number): Promise<void> {
  using target = new Target(address);
  let begun = 0;
  const worker = async () => {
    while (begun < count) {
      begun += 1;
      await attack(noise, target);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

describe(`${inputs} malformed inputs (seed ${seed})`, () => {
  it(
    "crash nothing, leak nothing and change nothing",
    async () => {
      await callUnary(address, leases, create, LeaseServiceCreateRequest.fromPartial({ lease: key("free") }));
      using session = await TestSession.open(address, "fuzz");
      const { hold } = await take(session, "held", "h");
      const holdIds = [Number(hold.holdId)];
      const renew = () => {
        const group = { partition: hold.partition, sendNumber: Number(session.sendNumber + 1n), holdIds };
        if (session.error === undefined) session.send({ renewals: encodeRenewals([group]) });
      };
      const beating = setInterval(renew, 1_000);
      const gateway = deployment.process("gateway-1");
      const before = await everything();
      const filesBefore = holdings(gateway.pid).files;
      const noise = new Noise(seededRandom(seed));
      try {
        await attackMany(noise, inputs / 2);
        const { residentMiB } = holdings(gateway.pid);
        await attackMany(noise, inputs / 2);
        await waitFor(() => holdings(gateway.pid).files <= filesBefore + spareFiles, {
          describe: "files to be closed",
          timeoutMs: 60_000,
        });
        expect(holdings(gateway.pid).residentMiB - residentMiB).toBeLessThan(mostGrowthMiB);
        expect(await everything()).toEqual(before);
        expect([gateway.exit, deployment.process("store-1").exit, session.error]).toEqual([
          undefined,
          undefined,
          undefined,
        ]);
        const complaints = gateway.output.all.filter((line) => /"level":"(error|fatal)"/.test(line));
        expect(complaints).toEqual([]);
      } finally {
        clearInterval(beating);
      }
    },
    isLong ? 3_600_000 : 300_000,
  );
});
