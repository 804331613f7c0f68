import type { Clock, Random } from "@tenure/kernel";
import { type GrpcOptions, GrpcTransport } from "../grpc/grpc-transport.ts";
import { type NatsOptions, NatsTransport } from "../nats/nats-transport.ts";
import type { Transport } from "./transport.ts";

/** Which way to the service, in plain values that can be handed to another thread. */
export type TransportChoice =
  | { readonly kind: "grpc"; readonly options: GrpcOptions }
  | { readonly kind: "nats"; readonly options: NatsOptions };

/** What every way needs. */
export interface TransportNeeds {
  readonly clock: Clock;
  readonly random: Random;
  /** Name and version of the client. */
  readonly userAgent: string;
  readonly connectTimeoutMs: number;
}

/** Makes the chosen way. Nothing is dialled before a stream is opened. */
export function makeTransport(choice: TransportChoice, needs: TransportNeeds): Transport {
  const { clock, connectTimeoutMs, random, userAgent } = needs;
  if (choice.kind === "grpc") return new GrpcTransport({ ...choice.options, clock, random, userAgent });
  const name = userAgent;
  return new NatsTransport({ ...choice.options, clock, random, connectTimeoutMs, name, version: userAgent });
}
