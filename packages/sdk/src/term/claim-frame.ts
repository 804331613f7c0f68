import { Claimant, durationFromMs, HoldMode, LeaseSpec } from "@tenure/contracts";
import { bytesOf } from "../guard/term-guard.ts";
import type { ClientContext } from "../instance/client-context.ts";
import { resolveTiming } from "../timing/check-timing.ts";
import type { TermTiming, TimingOptions } from "../timing/term-timing.ts";
import type { HoldOptions } from "./hold-options.ts";
import type { HoldingMode } from "./term.ts";

/** How the leases of a claim are held. */
export interface ClaimShape {
  readonly mode: HoldingMode;
  /** Units of a counted claim. */
  readonly units?: number | undefined;
  /** Units of the lease, if the claim creates it. */
  readonly capacity?: number | undefined;
}

/** All of a claim but its leases. */
export interface ClaimFrame {
  readonly timing: TermTiming;
  readonly claimant: Claimant;
  readonly mode: HoldMode;
  readonly units: number;
  /** What a claim that creates its lease gives it. */
  readonly spec: LeaseSpec;
  readonly onOverrun: "exit" | "signal-only";
}

/** The frame of each client's exclusive claims that say nothing of how they hold: nearly all, so it is made once. */
const plainFrames = new WeakMap<ClientContext, ClaimFrame>();

/** Checks what the options say of a hold. An option that is given as undefined is as one that is not given. */
export function claimFrame(context: ClientContext, shape: ClaimShape, options: HoldOptions): ClaimFrame {
  const isPlain =
    shape.mode === "exclusive" && shape.units === undefined && holdNames.every((name) => options[name] === undefined);
  const known = isPlain ? plainFrames.get(context) : undefined;
  // The client's identity has its name only when it is registered.
  if (known?.claimant.identity === (context.identityId?.() ?? "")) return known;
  const frame = makeFrame(context, shape, options);
  if (isPlain) plainFrames.set(context, frame);
  return frame;
}

function makeFrame(context: ClientContext, shape: ClaimShape, options: HoldOptions): ClaimFrame {
  const given = timingNames.filter((name) => options[name] !== undefined);
  const own = Object.fromEntries(given.map((name) => [name, options[name]]));
  const timing = resolveTiming({ ...context.timing, ...own }, context.policy);
  const claimant = Claimant.fromPartial({
    holder: options.holder ?? context.holder,
    holderKey: options.holderKey ?? "",
    identity: context.identityId?.() ?? "",
    value: bytesOf(options.value ?? ""),
    timing: {
      leaseDuration: durationFromMs(timing.leaseDurationMs),
      usableTerm: durationFromMs(timing.usableTermMs),
      renewInterval: durationFromMs(timing.renewIntervalMs),
      requestTimeout: durationFromMs(timing.requestTimeoutMs),
    },
    ...(options.participant === undefined ? {} : { participant: options.participant }),
  });
  return {
    timing,
    claimant,
    mode: modes[shape.mode],
    units: shape.units ?? 1,
    spec: specOf(shape, timing),
    onOverrun: options.onOverrun ?? "exit",
  };
}

function specOf({ mode, capacity }: ClaimShape, { lockDelayMs }: TermTiming): LeaseSpec {
  return LeaseSpec.fromPartial({
    mode: modes[mode],
    ...(mode === "counted" ? { capacity: capacity ?? 1 } : {}),
    ...(lockDelayMs > 0 ? { lockDelay: durationFromMs(lockDelayMs) } : {}),
  });
}

const modes: Readonly<Record<HoldingMode, HoldMode>> = {
  exclusive: HoldMode.EXCLUSIVE,
  shared: HoldMode.SHARED,
  counted: HoldMode.COUNTED,
};

const timingNames = [
  "leaseDuration",
  "usableTerm",
  "renewInterval",
  "requestTimeout",
  "drain",
  "stopTimeout",
  "lockDelay",
] as const satisfies readonly (keyof TimingOptions)[];

const holdNames = [
  ...timingNames,
  "holder",
  "holderKey",
  "value",
  "participant",
  "onOverrun",
] as const satisfies readonly (keyof HoldOptions)[];
