import { describe } from "./describe.ts";
import type { Period } from "./period.ts";
import { isRightRunner } from "./verdict.ts";
import { agrees, type ConfigurationInForce, type MigrationParticipant, type MigrationView, ownOf } from "./view.ts";

/** Something that would happen, and what stands in its way. */
export interface Step {
  readonly action: string;
  /** One sentence each; empty if nothing does. */
  readonly blockedBy: readonly string[];
}

/** What a plan rests on. */
export interface PlanView extends MigrationView {
  /** The configuration that is planned for. */
  readonly force: ConfigurationInForce;
  /** The running term of its lock. */
  readonly holder: Period | undefined;
  /** The former terms of its lock, oldest first. */
  readonly former: readonly Period[];
}

/** What comes next, and what blocks it. */
export function nextSteps(view: PlanView): readonly Step[] {
  const { force } = view;
  const names = force.configuration.controllerLeaders.map(({ name }) => name);
  const having = view.participants.filter((participant) =>
    names.some((name) => ownOf(participant, name) !== undefined),
  );
  const wrong = having.filter((participant) => !isInLine(force, participant));
  const enable = wrong.map((participant) => ({
    action: `restart ${describe(participant)} with configuration ${force.configuration.name}`,
    blockedBy: [],
  }));
  return [...enable, moveStep(view), finishStep(view, having, wrong)];
}

/** What a rollback would do, in order. */
export function rollbackSteps(view: PlanView): readonly Step[] {
  const { force, former, holder } = view;
  const present = holder?.participant?.component ?? former.at(-1)?.participant?.component;
  const before = former.map(({ participant }) => participant?.component).filter((one) => one !== present);
  const component = before.at(-1);
  if (present === undefined || component === undefined) {
    const where = present === undefined ? "have run nowhere yet" : `have run in ${present} only`;
    return [{ action: `nothing: the controllers of ${force.configuration.name} ${where}`, blockedBy: [] }];
  }
  const back = view.participants.filter((one) => one.release.component === component && mayTake(force, one));
  const isMissing = back.length === 0;
  return [
    {
      action: `start the former release of ${component} with configuration ${force.configuration.name}, node by node`,
      blockedBy: [],
    },
    {
      action: holder === undefined ? `the lock is free` : `stop ${termText(holder)}: it releases the lock`,
      blockedBy: isMissing ? [`no eligible participant of ${component} has joined`] : [],
    },
    {
      action: `${isMissing ? component : back.map(describe).join(" or ")} takes the lock and runs ${controllerNames(force)}`,
      blockedBy: holder === undefined ? [] : [`${termText(holder)} holds the lock`],
    },
  ];
}

function moveStep(view: PlanView): Step {
  const { force, holder } = view;
  const heirs = view.participants.filter((one) => one.instance !== holder?.holder && mayTake(force, one));
  const blockedBy = [
    ...(holder === undefined ? [] : [`${termText(holder)} holds the lock with token ${holder.token}`]),
    ...(heirs.length === 0 ? [`no ${holder === undefined ? "" : "other "}eligible participant has joined`] : []),
  ];
  const who = heirs.length === 0 ? "an eligible participant" : heirs.map(describe).join(" or ");
  return { action: `${who} takes the lock and runs ${controllerNames(force)}`, blockedBy };
}

/** The configuration can be ended once one component alone has its controllers. */
function finishStep(
  { force, holder }: PlanView,
  having: readonly MigrationParticipant[],
  wrong: readonly MigrationParticipant[],
): Step {
  const component = holder?.participant?.component;
  const others = having.filter(({ release }) => release.component !== component);
  return {
    action: `delete configuration ${force.configuration.name} and turn migration off in ${component ?? "the component that keeps the controllers"}`,
    blockedBy: [
      ...(holder === undefined ? ["nobody holds the lock"] : []),
      ...others.map((one) => `${describe(one)} still has controllers of it`),
      ...wrong.map((one) => `${describe(one)} does not run with it`),
    ],
  };
}

/** Whether a participant does with every controller of the configuration that it has what it wants. */
function isInLine(force: ConfigurationInForce, participant: MigrationParticipant): boolean {
  return force.configuration.controllerLeaders.every(({ name }) => {
    const own = ownOf(participant, name);
    return own === undefined || agrees(force, participant, own);
  });
}

function mayTake(force: ConfigurationInForce, participant: MigrationParticipant): boolean {
  return force.configuration.controllerLeaders.some(({ name }) => isRightRunner(force, participant, name));
}

function controllerNames({ configuration }: ConfigurationInForce): string {
  return configuration.controllerLeaders.map(({ name }) => name).join(", ");
}

function termText({ holder, participant }: Period): string {
  return participant === undefined ? holder : `${participant.component} ${participant.version} (${holder})`;
}
