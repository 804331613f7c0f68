export { Backoff, type BackoffOptions } from "./backoff.ts";
export { BoundedQueue } from "./bounded-queue.ts";
export { type Clock, systemClock, type Timer } from "./clock.ts";
export { type Dated, Deadlines } from "./deadlines.ts";
export { formatDuration, parseDuration } from "./duration.ts";
export { afterPromises, atEndOfTurn, ownTurn, turnSent } from "./end-of-turn.ts";
export { FakeClock } from "./fake-clock.ts";
export {
  type Applied,
  Fault,
  type FaultCode,
  type FaultDetails,
  type FaultInput,
  type FieldViolation,
  faultCodeOf,
  faultCodes,
  invalid,
  toFault,
} from "./fault.ts";
export { type ClockReadings, HolderClock, type SharedTime, systemReadings } from "./holder-clock.ts";
export { JoinedSignal } from "./joined-signal.ts";
export { Later, type LaterListener } from "./later.ts";
export { type Member, Members } from "./members.ts";
export { NamedItems } from "./named-items.ts";
export { NumberedItems } from "./numbered-items.ts";
export { onAbort } from "./on-abort.ts";
export { type Random, randomBase58, seededRandom, systemRandom } from "./random.ts";
export { redactLogins } from "./redact.ts";
export { TimerWheel } from "./timer-wheel.ts";
