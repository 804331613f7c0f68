import { testTimingPolicy } from "@tenure/core";
import { Client, type ClientOptions } from "../instance/client.ts";
import type { ClientEvent } from "../instance/client-event.ts";
import { ScriptedSession } from "./scripted-session.ts";

/** L 1.5 s, H 1.1 s, R 100 ms, T 200 ms, 100 ms of drain: the defaults, ten times as fast. */
export const fastTiming = {
  leaseDuration: 1_500,
  usableTerm: 1_100,
  renewInterval: 100,
  requestTimeout: 200,
  drain: 100,
  stopTimeout: 500,
} as const;

/** A client on a scripted session. */
export interface ClientUnderTest {
  readonly client: Client;
  readonly session: ScriptedSession;
  readonly events: ClientEvent[];
  /** How the process was ended, if it was. */
  readonly exits: { readonly code: number; readonly why: string; readonly atMs: number }[];
}

/** Makes a client whose process cannot end. */
export function clientUnderTest(options: ClientOptions = {}): ClientUnderTest {
  const session = new ScriptedSession();
  const events: ClientEvent[] = [];
  const exits: ClientUnderTest["exits"] = [];
  const client = new Client(session, {
    identity: "me",
    namespace: "tests",
    timing: fastTiming,
    policy: testTimingPolicy,
    onEvent: (event) => void events.push(event),
    endProcess: (code, why) => void exits.push({ code, why, atMs: session.clock.now() }),
    ...options,
  });
  return { client, session, events, exits };
}
