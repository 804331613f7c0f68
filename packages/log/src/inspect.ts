import type { JetStreamManager } from "@nats-io/jetstream";
import type { Bus } from "@tenure/bus";
import { toFault } from "@tenure/kernel";
import { findIncarnation, type IncarnationReading } from "./incarnation.ts";
import { askJetStream, orAbsent, type ReadOptions } from "./jetstream-api.ts";
import { type StreamFacts, streamFactsOf } from "./stream-facts.ts";
import { type StreamRole, streamNames, streamRoles } from "./streams.ts";

/** Whether JetStream answers: `off` is a setting that somebody must change, `leaderless` passes by itself. */
export type JetStreamState =
  | { readonly kind: "on" }
  | { readonly kind: "off"; readonly why: string }
  | { readonly kind: "leaderless"; readonly why: string };

/** What one connection can see of JetStream. */
export interface JetStreamFacts {
  /** The server at the other end of the connection. */
  readonly server: { readonly name: string; readonly version: string };
  readonly state: JetStreamState;
  /** The streams by role; a role without an entry has no stream. Empty while the state is not `on`. */
  readonly streams: Readonly<Partial<Record<StreamRole, StreamFacts>>>;
  /** Undefined while the state is not `on`. */
  readonly incarnation?: IncarnationReading;
}

/** Asks the account's JetStream whether it is there, waiting out a missing leader within the bound. */
export async function jetStreamState(bus: Bus, options: ReadOptions = {}): Promise<JetStreamState> {
  try {
    await askJetStream(bus, "read the JetStream account", (manager) => manager.getAccountInfo(), options);
    return { kind: "on" };
  } catch (thrown) {
    const fault = toFault(thrown);
    if (fault.reason === "JETSTREAM_DISABLED") return { kind: "off", why: fault.message };
    if (fault.reason === "JETSTREAM_UNAVAILABLE") return { kind: "leaderless", why: fault.message };
    throw thrown;
  }
}

/** The stream's facts, or undefined when it does not exist. */
export async function inspectStream(manager: JetStreamManager, role: StreamRole): Promise<StreamFacts | undefined> {
  const description = await orAbsent(manager.streams.info(streamNames[role]));
  return description === undefined ? undefined : streamFactsOf(description);
}

/** Every stream that exists, by role. */
export async function inspectStreams(
  bus: Bus,
  options: ReadOptions = {},
): Promise<Readonly<Partial<Record<StreamRole, StreamFacts>>>> {
  const found: Partial<Record<StreamRole, StreamFacts>> = {};
  for (const role of streamRoles) {
    const facts = await askJetStream(
      bus,
      `read the stream ${streamNames[role]}`,
      (manager) => inspectStream(manager, role),
      options,
    );
    if (facts !== undefined) found[role] = facts;
  }
  return found;
}

/** Reads what there is, changes nothing. Throws only when the connection or its permissions stand in the way. */
export async function inspectJetStream(bus: Bus, options: ReadOptions = {}): Promise<JetStreamFacts> {
  const state = await jetStreamState(bus, options);
  const server = { name: bus.nats.info?.server_name ?? "", version: bus.serverVersion };
  if (state.kind !== "on") return { server, state, streams: {} };
  const streams = await inspectStreams(bus, options);
  return { server, state, streams, incarnation: await findIncarnation(bus, options) };
}
