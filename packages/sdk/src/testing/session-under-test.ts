import { FakeClock, seededRandom } from "@tenure/kernel";
import { SessionClient, type SessionClientOptions } from "../session/session-client.ts";
import { ScriptedTransport } from "./scripted-transport.ts";

/** A session on a scripted transport and a clock that only a test moves. */
export interface SessionUnderTest {
  readonly session: SessionClient;
  readonly transport: ScriptedTransport;
  readonly clock: FakeClock;
}

/** R 2 s, T 2 s, calls of 5 s. Connected unless said otherwise. */
export async function sessionUnderTest(
  options: Partial<SessionClientOptions> & { readonly isConnected?: boolean; readonly heartbeatMs?: number } = {},
): Promise<SessionUnderTest> {
  const clock = new FakeClock({ startMs: 100_000 });
  const transport = new ScriptedTransport();
  const session = new SessionClient({
    clientId: "client",
    transport,
    clock,
    random: seededRandom(1),
    renewKey: new Uint8Array([1, 2, 3]),
    userAgent: "test",
    beatIntervalMs: 2_000,
    requestTimeoutMs: 2_000,
    callTimeoutMs: 5_000,
    ...options,
  });
  session.start();
  if (options.isConnected ?? true) {
    transport.last.welcome(options.heartbeatMs === undefined ? {} : { heartbeatMs: options.heartbeatMs });
    await clock.advance(0);
  }
  return { session, transport, clock };
}
