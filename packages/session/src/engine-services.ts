import type { Clock, Random } from "@tenure/kernel";
import type { LiveCandidates } from "./live-candidates.ts";
import type { News } from "./news.ts";
import type { RenewalPort } from "./renewal-coalescer.ts";
import type { CallPort } from "./service-calls.ts";
import type { SessionLimits } from "./session-limits.ts";
import type { WaitBeats } from "./wait-beats.ts";

/** What all sessions of a process share. */
export interface EngineServices {
  readonly calls: CallPort;
  readonly renewals: RenewalPort;
  readonly beats: WaitBeats;
  /** Absent: nothing is pushed, and clients learn from their renewals and reads. */
  readonly news?: News | undefined;
  /** Absent: coordinators ask the candidates of sessions by ping. */
  readonly live?: LiveCandidates | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: SessionLimits;
  /** This process, as clients and logs name it. */
  readonly instance: string;
  readonly version: string;
  /** The longest time between two messages of the server, in milliseconds. */
  readonly heartbeatMs: number;
  /** How long an answer to a ping may take, in milliseconds. */
  readonly pingAnswerMs: number;
}
