import { nameOf } from "@tenure/core";
import { recommendedLocks, tooManyLocks } from "./configuration.ts";
import { describe, describePlacement } from "./describe.ts";
import { overlapIn, type Period } from "./period.ts";
import { speakersOf } from "./side.ts";
import { canRun, isWilling, verdictOn } from "./verdict.ts";
import {
  agrees,
  type ConfigurationInForce,
  controllersOf,
  type MigrationParticipant,
  type MigrationView,
  ownOf,
  ruling,
} from "./view.ts";

/** What is wrong with a migration. */
export type AlarmKind = "disagreement" | "orphaned" | "overlap" | "doubleRun" | "tooManyLocks";

/** Something wrong with a migration, with both sides. */
export interface Alarm {
  readonly kind: AlarmKind;
  /** Empty if it concerns all. */
  readonly controller: string;
  readonly participants: readonly MigrationParticipant[];
  /** What is wrong, what is refused because of it, what to do. */
  readonly message: string;
}

/** Everything that is wrong in a namespace, in order of controller. Of a large fleet, one speaks for each side. */
export function alarmsOf(everyone: MigrationView): readonly Alarm[] {
  const view = { ...everyone, participants: speakersOf(everyone) };
  const locks = view.participants.flatMap((participant): Alarm[] => {
    if (participant.digests.size <= recommendedLocks) return [];
    const message = `${describe(participant)} has ${tooManyLocks(participant.digests.size)}`;
    return [{ kind: "tooManyLocks", controller: "", participants: [participant], message }];
  });
  const about = controllersOf(view).flatMap((controller) =>
    [overlapOf(view, controller), disagreementOn(view, controller), orphanOf(view, controller)].filter(isAlarm),
  );
  return [...about, ...locks];
}

/** Recorded periods of a controller overlap: what must never be. */
export function doubleRunOf(view: MigrationView, controller: string, periods: readonly Period[]): Alarm | undefined {
  const pair = overlapIn(periods);
  if (pair === undefined) return undefined;
  const participants = view.participants.filter(({ instance }) => pair.some(({ holder }) => holder === instance));
  const [earlier, later] = pair;
  const message = `${controller} ran twice: ${earlier.holder} with token ${earlier.token} and ${later.holder} with token ${later.token}`;
  return { kind: "doubleRun", controller, participants, message };
}

/** Names an alarm: one that is still there is the same one. */
export function alarmKey({ controller, kind, participants }: Alarm): string {
  return JSON.stringify([kind, controller, controller === "" ? participants.map(({ instance }) => instance) : []]);
}

/** Two configurations in force name a controller: the older one counts. */
function overlapOf(view: MigrationView, controller: string): Alarm | undefined {
  const naming = view.inForce.filter(({ configuration }) =>
    configuration.controllerLeaders.some(({ name }) => name === controller),
  );
  const [first, second] = naming;
  if (first === undefined || second === undefined) return undefined;
  const message = `configurations ${naming.map(({ configuration }) => configuration.name).join(" and ")} both name ${controller}: ${first.configuration.name} is older and counts; take it out of the others`;
  return { kind: "overlap", controller, participants: [], message };
}

/** Participants do with a controller what the configuration in force, or another component, does not agree with. */
function disagreementOn(view: MigrationView, controller: string): Alarm | undefined {
  const force = ruling(view, controller);
  const having = view.participants.filter((participant) => ownOf(participant, controller) !== undefined);
  return force === undefined ? disputeOn(view, controller, having) : dissentFrom(view, force, controller, having);
}

function dissentFrom(
  view: MigrationView,
  force: ConfigurationInForce,
  controller: string,
  having: readonly MigrationParticipant[],
): Alarm | undefined {
  const isRight = (participant: MigrationParticipant) => {
    const own = ownOf(participant, controller);
    return own !== undefined && agrees(force, participant, own);
  };
  const wrong = having.filter((participant) => !isRight(participant));
  if (wrong.length === 0) return undefined;
  const right = having.filter(isRight);
  const name = force.configuration.name;
  const agreeing = right.length === 0 ? "nobody agrees with it" : `${right.map(describe).join(", ")} agrees with it`;
  const message = `configuration ${name} is in force and names ${controller}, but ${dissenting(wrong, controller)}; ${agreeing}; ${refusals(view, controller, wrong)}: give all of them configuration ${name}`;
  return { kind: "disagreement", controller, participants: [...right, ...wrong], message };
}

/** With nothing in force, components that would run one controller under different locks, or rules, contradict each other. */
function disputeOn(
  view: MigrationView,
  controller: string,
  having: readonly MigrationParticipant[],
): Alarm | undefined {
  const willing = having.filter((participant) => isWilling(participant, controller));
  const lockOf = (participant: MigrationParticipant) => ownOf(participant, controller)?.lock ?? "";
  const digestOf = (participant: MigrationParticipant) => participant.digests.get(nameOf(lockOf(participant)));
  const disputing = willing.filter((one) =>
    willing.some(
      (other) => other.primary !== one.primary && (lockOf(other) !== lockOf(one) || digestOf(other) !== digestOf(one)),
    ),
  );
  if (disputing.length === 0) return undefined;
  const isOneLock = new Set(disputing.map(lockOf)).size === 1;
  const isMigrated = disputing.every((participant) => ownOf(participant, controller)?.placement === "migrated");
  const how = isOneLock ? " with different configurations" : "";
  const message = `no configuration in force names ${controller}, and ${dissenting(disputing, controller)}${how}; ${refusals(view, controller, disputing)}: apply one configuration and give it to all`;
  return {
    kind: isMigrated && !isOneLock ? "overlap" : "disagreement",
    controller,
    participants: disputing,
    message,
  };
}

/** Nobody can run a controller. */
function orphanOf(view: MigrationView, controller: string): Alarm | undefined {
  const force = ruling(view, controller);
  const isRunner = (participant: MigrationParticipant) => {
    const own = ownOf(participant, controller);
    return (
      own !== undefined && canRun(view, force, participant, controller) && !verdictOn(view, participant, own).isRefused
    );
  };
  if (view.runners.has(controller) || view.participants.some(isRunner)) return undefined;
  const participants = view.participants.filter((participant) => ownOf(participant, controller) !== undefined);
  const having = participants.length === 0 ? "no participant has it" : dissenting(participants, controller);
  const rule = force === undefined ? "" : ` of configuration ${force.configuration.name}`;
  const locks = new Set(participants.flatMap((one) => [one.primary, ownOf(one, controller)?.lock ?? one.primary]));
  const held = [...locks].flatMap((lock) =>
    view.holders.has(lock) ? [`${view.holders.get(lock)} holds ${lock}`] : [],
  );
  const message = `nobody can run ${controller}${rule}: ${[having, ...held].join(", ")}; start a component that may, or change the configuration`;
  return { kind: "orphaned", controller, participants, message };
}

function dissenting(participants: readonly MigrationParticipant[], controller: string): string {
  return participants.map((one) => `${describe(one)} ${describePlacement(ownOf(one, controller))}`).join(", ");
}

function refusals(view: MigrationView, controller: string, participants: readonly MigrationParticipant[]): string {
  const refused = participants.filter((participant) => {
    const own = ownOf(participant, controller);
    return own !== undefined && verdictOn(view, participant, own).isRefused;
  });
  return refused.length === 0 ? "nothing is refused" : `refused on ${refused.map(describe).join(", ")}`;
}

function isAlarm(alarm: Alarm | undefined): alarm is Alarm {
  return alarm !== undefined;
}
