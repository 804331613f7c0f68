import { systemReadings } from "@tenure/kernel";

/**
 * An instant that two processes of one machine understand alike: on the monotonic clock, and on the one that counts
 * suspends. It has come when either says so. Never a remaining time: one that is sent late would be too long.
 */
export interface MachineInstant {
  readonly monotonicMs: number;
  readonly bootMs: number;
}

/** What a process group is for: the program itself, or what runs before it is asked to stop. */
export type Role = "main" | "pre-stop";

/** What the watchdog is told. */
export type WatchdogOrder =
  | {
      readonly kind: "start";
      readonly role: Role;
      readonly program: readonly string[];
      readonly environment: Readonly<Record<string, string>>;
      readonly deadline: MachineInstant;
    }
  /** Every group must be gone at this instant, whatever was said before. */
  | { readonly kind: "deadline"; readonly deadline: MachineInstant };

/** What the watchdog tells. */
export type WatchdogNews =
  /** It runs: its process id is also that of its group. */
  | { readonly kind: "started"; readonly role: Role; readonly groupId: number }
  | { readonly kind: "not-started"; readonly role: Role; readonly why: string }
  /** The term was over before it could be started. */
  | { readonly kind: "too-late"; readonly role: Role }
  /** It has ended, and what was left of its group was killed. */
  | {
      readonly kind: "ended";
      readonly role: Role;
      readonly code: number | null;
      readonly signal: NodeJS.Signals | null;
    };

/** The boot clock steps by 10 ms and is read beside the other: within this the two may disagree without a suspend. */
const coarsenessMs = 30;

/** The instant a span from now. The clocks are read first: time that passes meanwhile makes the instant earlier. */
export function instantIn(spanMs: () => number): MachineInstant {
  const monotonicMs = systemReadings.monotonicMs();
  const bootMs = systemReadings.bootMs();
  const span = spanMs();
  return { monotonicMs: monotonicMs + span, bootMs: bootMs + span + coarsenessMs };
}

/** The earlier of two instants. */
export function earlier(left: MachineInstant, right: MachineInstant): MachineInstant {
  return left.monotonicMs <= right.monotonicMs ? left : right;
}

/** Ms until an instant; 0 or less when it has come. */
export function msUntil({ bootMs, monotonicMs }: MachineInstant): number {
  return Math.min(monotonicMs - systemReadings.monotonicMs(), bootMs - systemReadings.bootMs());
}
