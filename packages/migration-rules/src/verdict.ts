import type { LeaseKey } from "@tenure/core";
import { describe, describePlacement } from "./describe.ts";
import {
  agrees,
  type ConfigurationInForce,
  type MigrationParticipant,
  type MigrationView,
  type OwnController,
  type OwnPlacement,
  ownOf,
  ruling,
  wanted,
} from "./view.ts";

/** What a participant may do with one of its controllers. */
export interface Verdict {
  readonly controller: string;
  /** Where it belongs by the configuration in force, or by the participant's own if none names it. */
  readonly placement: OwnPlacement;
  /** The lock under which it may run; undefined if it may not. */
  readonly lock: LeaseKey | undefined;
  /** It must not run here, because another component rightly would. */
  readonly isRefused: boolean;
  /** One sentence for people. */
  readonly message: string;
}

/** The verdict on each controller of a participant. */
export function verdictsFor(view: MigrationView, participant: MigrationParticipant): readonly Verdict[] {
  return participant.controllers.map((own) => verdictOn(view, participant, own));
}

/**
 * A participant that does what is in force may. One that does otherwise is refused where a participant of another
 * component can run the controller rightly, or has it already under another lock; otherwise it goes on, so that
 * enabling and disabling migration node by node leaves no controller without a runner: within one component the primary
 * lock excludes. Whatever is said here, the controller's own lease lets only one run it.
 */
export function verdictOn(view: MigrationView, participant: MigrationParticipant, own: OwnController): Verdict {
  const force = ruling(view, own.name);
  const placement = force === undefined ? own.placement : wanted(force, participant.release, own.name);
  const isRight = force === undefined || agrees(force, participant, own);
  const rival = own.placement === "unowned" ? undefined : rivalOf(view, force, participant, own);
  const isRefused = rival !== undefined;
  const lock = isRefused ? undefined : own.lock;
  return { controller: own.name, placement, lock, isRefused, message: sentence(own, force, isRight, rival) };
}

function sentence(
  own: OwnController,
  force: ConfigurationInForce | undefined,
  isRight: boolean,
  rival: MigrationParticipant | undefined,
): string {
  const rule =
    force === undefined
      ? "no configuration in force names it"
      : `configuration ${force.configuration.name} is in force`;
  if (rival !== undefined)
    return `refused: ${rule}, and ${describe(rival)} ${describePlacement(ownOf(rival, own.name))}`;
  return isRight ? rule : `${rule} and says otherwise; what runs here goes on until another component takes it over`;
}

/** A participant of another component that has the better right to a controller; undefined if there is none. */
function rivalOf(
  view: MigrationView,
  force: ConfigurationInForce | undefined,
  participant: MigrationParticipant,
  own: OwnController,
): MigrationParticipant | undefined {
  const others = view.participants.filter(
    (other) =>
      other.primary !== participant.primary &&
      ownOf(other, own.name)?.lock !== own.lock &&
      canRun(view, force, other, own.name),
  );
  if (force !== undefined) {
    if (agrees(force, participant, own)) return undefined;
    const right = others.find((other) => isRightRunner(force, other, own.name));
    if (right !== undefined) return right;
  }
  // Nothing in force speaks for any of them: who runs it keeps it, or else who joined first.
  const runner = view.runners.get(own.name);
  if (runner === participant.instance) return undefined;
  return others.find(({ instance }) => instance === runner) ?? others.find((other) => isBefore(other, participant));
}

/** Whether a participant would run a controller as what is in force wants it. */
export function isRightRunner(
  force: ConfigurationInForce,
  participant: MigrationParticipant,
  controller: string,
): boolean {
  const own = ownOf(participant, controller);
  return own?.placement === "migrated" && agrees(force, participant, own);
}

/** Whether nothing but a verdict keeps a participant from running a controller now: neither its own wish nor a lock. */
export function canRun(
  view: MigrationView,
  force: ConfigurationInForce | undefined,
  participant: MigrationParticipant,
  controller: string,
): boolean {
  const lock = ownOf(participant, controller)?.lock;
  if (lock === undefined || !isWilling(participant, controller)) return false;
  // The lock itself refuses whoever does not agree with what is in force.
  if (lock === force?.lock && !isRightRunner(force, participant, controller)) return false;
  const { instance, primary } = participant;
  return [primary, lock].every((one) => (view.holders.get(one) ?? instance) === instance);
}

/** Whether a participant would run a controller if it were let. */
export function isWilling(participant: MigrationParticipant, controller: string): boolean {
  return (ownOf(participant, controller)?.placement ?? "unowned") !== "unowned";
}

/** Whether one joined before another. */
export function isBefore(left: MigrationParticipant, right: MigrationParticipant): boolean {
  if (left.joinedRevision !== right.joinedRevision) return left.joinedRevision < right.joinedRevision;
  return left.instance < right.instance;
}
