import { Fault, randomBase58, type Timer } from "@tenure/kernel";
import type { EngineServices } from "./engine-services.ts";
import { Session } from "./session.ts";
import type { OpenSession, SessionPort } from "./session-port.ts";

/** Base58 digits of a session's id. */
const idDigits = 10;

/** Clients of a server that stops come back spread over this time. */
const spreadMs = 500;

/**
 * The server's side of sessions: takes what clients send, calls the services, and says what came of it, many parts per
 * message. A session keeps nothing that its client needs afterwards: terms live in the store, and waits are sent again.
 */
export class SessionEngine implements AsyncDisposable {
  readonly #services: EngineServices;
  readonly #sessions = new Set<Session>();
  #heartbeat: Timer | undefined;
  #isStopping = false;

  constructor(services: EngineServices) {
    this.#services = services;
  }

  /** How many sessions are open. */
  get sessions(): number {
    return this.#sessions.size;
  }

  /** How many calls of all sessions are open. */
  get openCalls(): number {
    let calls = 0;
    for (const session of this.#sessions) calls += session.openCalls;
    return calls;
  }

  /** Opens a session over a transport. */
  open(port: SessionPort): OpenSession {
    const session: Session = new Session(this.#services, port, randomBase58(this.#services.random, idDigits), () => {
      this.#sessions.delete(session);
    });
    this.#sessions.add(session);
    if (this.#isStopping) session.end(stopping());
    else this.#arm();
    return session;
  }

  /** Tells every client to go elsewhere. Open calls go on; new ones and new sessions are refused. */
  sayGoodbye(reason: string): void {
    this.#isStopping = true;
    const { random } = this.#services;
    for (const session of this.#sessions) session.sayGoodbye(reason, Math.floor(random.next() * spreadMs));
  }

  /** Ends every session. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true;
    this.#heartbeat?.cancel();
    for (const session of [...this.#sessions]) session.end(stopping());
    this.#services.beats[Symbol.dispose]();
  }

  /** Looks after all sessions at half the heartbeat, while there are any. */
  #arm(): void {
    if (this.#heartbeat !== undefined) return;
    const { clock, heartbeatMs } = this.#services;
    this.#heartbeat = clock.schedule(heartbeatMs / 2, () => {
      this.#heartbeat = undefined;
      const now = clock.now();
      for (const session of [...this.#sessions]) session.onTick(now);
      if (this.#sessions.size > 0) this.#arm();
    });
  }
}

function stopping(): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    reason: "SERVER_STOPPING",
    message: "this server is stopping: open a session at another",
    details: { applied: "NO" },
  });
}
