// Between the election in core and the wire: decisions as they are recorded and shown, and what is assumed in a dry run.

export { Reading } from "../store/reading.ts";
export { strategyConflictToWire, strategyFromWire, strategyToWire } from "../store/value/strategy.ts";
export { type DecisionOrigin, electionDecisionToWire } from "./decision-to-wire.ts";
export { hypothesesFromWire } from "./hypothesis-from-wire.ts";
