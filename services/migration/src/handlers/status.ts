import type { CallContext } from "@tenure/bus";
import {
  ControllerStatus,
  type MigrationServiceStatusRequest,
  MigrationServiceStatusResponse,
  runningHoldToWire,
  transitionToWire,
} from "@tenure/contracts";
import { partitionOf } from "@tenure/core";
import {
  type Alarm,
  controllerLeaseOf,
  nextSteps,
  overlapIn,
  type Period,
  type PlanView,
  periodsOf,
  rollbackSteps,
} from "@tenure/migration-rules";
import { periodToWire, stepToWire } from "../record/to-wire.ts";
import { alarmsToWire, type MigrationContext, reach, requireConfiguration } from "./migration-context.ts";

/** Says where each controller runs and ran, what comes next and what stands in the way. */
export async function status(
  context: MigrationContext,
  request: MigrationServiceStatusRequest,
  scope: CallContext,
): Promise<MigrationServiceStatusResponse> {
  const { directory, reader } = context;
  await reach(context, request.read, scope);
  const { namespace, record, stored } = requireConfiguration(context, request);
  const state = directory.stateOf(namespace);
  const ran = stored.inForce.configuration.controllerLeaders.map(({ name }) =>
    periodsOfController(context, namespace, name),
  );
  const terms = periodsOf(record.history);
  const plan: PlanView = {
    ...state.view,
    force: stored.inForce,
    holder: terms.find(({ to }) => to === undefined),
    former: terms.filter(({ to }) => to !== undefined),
  };
  const names = new Set(ran.map(({ controller }) => controller));
  const alarms = state.alarms.filter((alarm) => concerns(alarm, names, stored.wire.name));
  const hold = record.holds[0];
  return MigrationServiceStatusResponse.fromPartial({
    configuration: stored.wire,
    ...(hold !== undefined && { lockHold: runningHoldToWire(hold, partitionOf(record.key, reader.partitions)) }),
    controllers: ran.map((one) => controllerStatus(one, stored.inForce.configuration.controllerLeaders)),
    participants: state.participants.map(({ wire }) => wire),
    alarms: alarmsToWire(context, namespace, alarms),
    nextSteps: nextSteps(plan).map(stepToWire),
    rollbackSteps: rollbackSteps(plan).map(stepToWire),
    handovers: record.history
      .filter(({ kind }) => kind === "granted" || kind === "ended")
      .map(transitionToWire)
      .reverse(),
    revision: reader.revision,
  });
}

/** The terms of a controller's own lease: nobody runs it without one. */
interface Ran {
  readonly controller: string;
  readonly lease: string;
  readonly periods: readonly Period[];
}

function periodsOfController({ directory }: MigrationContext, namespace: string, controller: string): Ran {
  const lease = controllerLeaseOf(controller, namespace);
  return { controller, lease, periods: periodsOf(directory.recordOf(lease)?.history ?? []) };
}

function controllerStatus(
  { controller, lease, periods }: Ran,
  leaders: readonly { readonly name: string; readonly component: string }[],
): ControllerStatus {
  const shown = periods.map((period) => periodToWire(controller, lease, period));
  const running = shown.at(-1);
  return ControllerStatus.fromPartial({
    controller,
    ...(running?.toRevision === 0n && { running }),
    periods: shown,
    exclusive: overlapIn(periods) === undefined,
    eligibleComponents: leaders.filter(({ name }) => name === controller).map(({ component }) => component),
  });
}

function concerns({ controller, participants }: Alarm, names: ReadonlySet<string>, configuration: string): boolean {
  return controller === "" ? participants.some(({ digests }) => digests.has(configuration)) : names.has(controller);
}
