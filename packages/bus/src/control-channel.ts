import type { BusConnection } from "./bus-connection.ts";
import { decodeControlFrame } from "./control-frame.ts";
import { RunningCalls } from "./running-calls.ts";
import { controlAllSubject, controlSubject } from "./subjects.ts";

/** A running call as its caller can steer it. */
export interface SteeredCall {
  /** The caller has given up. */
  onCancel(): void;
  /** The caller of a stream takes items up to this total, and lives. */
  onGrant(total: number): void;
}

/**
 * The running calls of one service on one connection, by the reply subjects that name them, and the subscriptions by
 * which their callers steer them. Shared by all servers of the service on the connection, however many routes.
 */
export class ControlChannel {
  readonly calls = new RunningCalls<SteeredCall>();
  readonly #unsubscribe: readonly (() => void)[];
  #users = 0;

  constructor(connection: BusConnection, service: string) {
    const listener = (payload: Uint8Array): void => this.#steer(payload);
    this.#unsubscribe = [
      connection.subscribe(controlAllSubject(service), listener),
      connection.subscribe(controlSubject(service, connection.instance), listener),
    ];
  }

  join(): void {
    this.#users += 1;
  }

  /** `true` when the last user has left, and the subscriptions with it. */
  leave(): boolean {
    this.#users -= 1;
    if (this.#users > 0) return false;
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    return true;
  }

  /** Frames of calls that are over, or run elsewhere, are none of ours. */
  #steer(payload: Uint8Array): void {
    const frame = decodeControlFrame(payload);
    if (frame === undefined) return;
    const call = this.calls.named(frame.call);
    if (frame.kind === "cancel") call?.onCancel();
    else call?.onGrant(frame.total);
  }
}

const channels = new WeakMap<BusConnection, Map<string, ControlChannel>>();

/** The channel of a service on a connection, made for its first user; {@link releaseControlChannel} gives it back. */
export function useControlChannel(connection: BusConnection, service: string): ControlChannel {
  const ofConnection = channels.get(connection) ?? new Map<string, ControlChannel>();
  channels.set(connection, ofConnection);
  const channel = ofConnection.get(service) ?? new ControlChannel(connection, service);
  ofConnection.set(service, channel);
  channel.join();
  return channel;
}

/** Gives a channel back; the last to do so ends its subscriptions. */
export function releaseControlChannel(connection: BusConnection, service: string): void {
  const ofConnection = channels.get(connection);
  if (ofConnection?.get(service)?.leave()) ofConnection.delete(service);
}
