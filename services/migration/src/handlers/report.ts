import type { CallContext } from "@tenure/bus";
import {
  Claimant,
  durationFromMs,
  faultFromFailure,
  leaseKeyToWire,
  type MigrationParticipant,
  type MigrationServiceReportRequest,
  MigrationServiceReportResponse,
} from "@tenure/contracts";
import type { LeaseRecord } from "@tenure/core";
import { Fault } from "@tenure/kernel";
import { namespaceOfParticipant, verdictsFor } from "@tenure/migration-rules";
import { replicaBehind } from "@tenure/reader";
import { hasAnnotations, participantAnnotations, participantLease } from "../record/participant-record.ts";
import { verdictToWire } from "../record/to-wire.ts";
import { alarmsToWire, askingOf, catchUpMs, type MigrationContext } from "./migration-context.ts";
import { readParticipant } from "./read-participant.ts";

/** Who the store takes this service for: any replica keeps a participant's lease for it. */
export const principal = "migration";

/** Immediate tries when the record changes in between; the participant reports again anyway. */
const mostTries = 5;

/** Answers of the store that mean: the record is not what it was thought to be. */
const changedReasons: ReadonlySet<string> = new Set([
  "LEASE_HELD",
  "REVISION_CONFLICT",
  "NOT_HOLDER",
  "FENCED",
  "TERM_EXPIRED",
  "REVOKED",
  "LEASE_NOT_FOUND",
  "TOMBSTONE",
  "ALREADY_EXISTS",
]);

/** Takes down what a participant runs, and says what it may run. The answer rests on a state that knows of the report. */
export async function report(
  context: MigrationContext,
  request: MigrationServiceReportRequest,
  scope: CallContext,
): Promise<MigrationServiceReportResponse> {
  const wire = readParticipant(request.participant, scope.principal);
  for (let tries = 1; ; tries += 1) {
    try {
      const revision = request.leaving ? await leave(context, wire, scope) : await keep(context, wire, scope);
      await context.reader.hub.reach(revision, catchUpMs, scope.signal);
      if (request.leaving) return MigrationServiceReportResponse.fromPartial({ revision });
      return answer(context, wire);
    } catch (thrown) {
      if (!(thrown instanceof Fault) || !changedReasons.has(thrown.reason) || tries >= mostTries) throw thrown;
      await catchUp(context, scope);
    }
  }
}

/** Writes the report where it differs and gives its lease more time; the log position after both. */
async function keep(context: MigrationContext, wire: MigrationParticipant, scope: CallContext): Promise<bigint> {
  const { directory, store } = context;
  const key = participantLease(wire);
  const lease = leaseKeyToWire(key);
  const annotations = participantAnnotations(wire);
  const record = existing(directory.recordOf(key));
  if (record !== undefined && !hasAnnotations(record, annotations)) {
    refuseStranger(context, wire);
    await store.update(
      { lease, expectedRevision: record.revision.sequence, spec: { annotations }, updateMask: ["annotations"] },
      own(scope),
    );
  }
  const token = record?.holds[0]?.token;
  if (token !== undefined) {
    const { results } = await store.renew({ renewals: [{ lease, token, sendNumber: 1n }] }, own(scope));
    const { failure, renewalRevision = 0n } = results[0] ?? {};
    if (failure !== undefined) throw faultFromFailure(failure);
    return renewalRevision;
  }
  const leaseDuration = durationFromMs(context.participantDurationMs);
  const claimant = Claimant.fromPartial({ holder: wire.instance });
  const { grants } = await store.acquire(
    { claims: [{ lease, spec: { leaseDuration, annotations } }], claimant },
    own(scope),
  );
  return grants[0]?.revision ?? 0n;
}

async function catchUp({ reader, store }: MigrationContext, scope: CallContext): Promise<void> {
  await reader.hub.reach(await store.freshListRevision(own(scope)), catchUpMs, scope.signal);
}

/** Removes a participant that has stopped everything; one that is unknown has left already. */
async function leave(context: MigrationContext, wire: MigrationParticipant, scope: CallContext): Promise<bigint> {
  const { directory, store } = context;
  const key = participantLease(wire);
  // That nobody is there is believed only of the newest: it may have reported a moment ago, at another replica.
  if (existing(directory.recordOf(key))?.holds.length !== 1) await catchUp(context, scope);
  refuseStranger(context, wire);
  const record = existing(directory.recordOf(key));
  if (record === undefined) return 0n;
  const lease = leaseKeyToWire(record.key);
  const token = record.holds[0]?.token;
  if (token === undefined) return record.revision.sequence;
  const { revision } = await store.release({ items: [{ lease, token }] }, own(scope));
  return revision;
}

/** What the participant hears, from a state that knows of its report. */
function answer(context: MigrationContext, wire: MigrationParticipant): MigrationServiceReportResponse {
  const { directory, reader } = context;
  const { instance } = wire;
  const stored = directory.participantOf(participantLease(wire));
  if (stored === undefined) throw replicaBehind(`participant ${instance} is not known yet`);
  const { controllers, digests } = stored.participant;
  const namespace = namespaceOfParticipant(stored.participant);
  const { alarms, configurations, view } = directory.stateOf(namespace);
  const mine = new Set(controllers.map(({ name }) => name));
  const concerning = alarms.filter(
    ({ controller, participants }) => mine.has(controller) || participants.some((one) => one.instance === instance),
  );
  const joined = configurations.filter(
    ({ wire }) => digests.has(wire.name) || wire.controllerLeaders.some(({ name }) => mine.has(name)),
  );
  return MigrationServiceReportResponse.fromPartial({
    verdicts: verdictsFor(view, stored.participant).map(verdictToWire),
    alarms: alarmsToWire(context, namespace, concerning),
    configurations: joined.map(({ wire }) => wire),
    revision: reader.revision,
  });
}

function existing(record: LeaseRecord | undefined): LeaseRecord | undefined {
  return record?.created === undefined || record.deletion !== undefined ? undefined : record;
}

/** Nobody speaks for a participant but who began to. */
function refuseStranger({ directory }: MigrationContext, wire: MigrationParticipant): void {
  const known = directory.participantOf(participantLease(wire));
  if (known === undefined || known.wire.principal === wire.principal) return;
  throw new Fault({
    code: "PERMISSION_DENIED",
    reason: "PRINCIPAL_MISMATCH",
    message: `participant ${wire.instance} belongs to another principal`,
    details: { applied: "NO" },
  });
}

function own(scope: CallContext) {
  return { ...askingOf(scope), principal };
}
