import { type ConnectOptions, connect } from "@tenure/sdk";
import type { Renewed, Renewer } from "../peer-client.ts";
import { Holds } from "./holds.ts";
import { patience, timing } from "./tenure-client.ts";

/** Connections that are opened at a time. */
const opensInFlight = 50;

/** Connections with one lease each, every one of which is renewed as soon as it was acknowledged. */
export async function tenureConnections(options: Pick<ConnectOptions, "endpoint">, count: number): Promise<Renewer> {
  const holds: Holds[] = [];
  while (holds.length < count) {
    const opened = Array.from({ length: Math.min(opensInFlight, count - holds.length) }, async (_, index) => {
      // A thread for each of a thousand clients of one process would measure threads.
      const tenure = await connect({ ...options, ...patience, timing, renewal: "inline" });
      return await Holds.take(tenure.session, `p${process.pid}-connection-${holds.length + index}`, 1);
    });
    holds.push(...(await Promise.all(opened)));
  }
  return {
    async renewFor(durationMs): Promise<Renewed> {
      const renewed = await Promise.all(holds.map((one) => one.renewFor(durationMs)));
      const latenciesMs = renewed.flatMap((one) => one.latenciesMs);
      return { count: latenciesMs.length, latenciesMs };
    },
  };
}
