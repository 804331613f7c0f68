import { createHash } from "node:crypto";
import type { CallContext } from "@tenure/bus";
import {
  Claimant,
  durationFromMs,
  type Grant,
  Identity,
  IdentityLiveness,
  IdentityProfile,
  type IdentityServiceRegisterRequest,
  type IdentityServiceRegisterResponse,
  leaseKeyToWire,
  takeoverNote,
} from "@tenure/contracts";
import {
  type IdentityProfile as CoreProfile,
  checkIdentityId,
  checkProfile,
  departureOf,
  freshDigits,
  freshIdentityId,
  type Hold,
  holderOf,
  identityAnnotations,
  type LeaseKey,
  type LeaseRecord,
  leaseKey,
  maximumAnnotationBytes,
  stableIdentityId,
} from "@tenure/core";
import { Fault, type FieldViolation, invalid } from "@tenure/kernel";
import type { Asking } from "@tenure/session";
import { identityToWire } from "../record/identity-to-wire.ts";
import { completeProfile, type ProfileRecord, profileFromWire, profileRecord } from "../record/profile-record.ts";
import { catchUpMs, type IdentityContext } from "./identity-context.ts";

/** A registration whose every rule has been checked. */
interface Registration {
  readonly id: string;
  readonly key: LeaseKey;
  readonly holder: string;
  readonly profile: CoreProfile;
  readonly record: ProfileRecord;
  readonly claimant: Claimant;
}

/** Immediate tries when the record changes in between (statement 101); the caller tries again later. */
const mostTries = 5;

/** Answers of the store that mean: the record is not what it was thought to be. */
const changedReasons: ReadonlySet<string> = new Set([
  "LEASE_HELD",
  "REVISION_CONFLICT",
  "UID_CONFLICT",
  "NOT_HOLDER",
  "LEASE_NOT_FOUND",
  "TOMBSTONE",
  "ALREADY_EXISTS",
]);

/**
 * Registers an instance: takes the lease of its id. A fresh id is taken once. A stable id is taken over from a former
 * start of the process; should that one still live, it claims the id back, and both are told. Registering again what
 * is registered changes nothing.
 */
export async function register(
  context: IdentityContext,
  request: IdentityServiceRegisterRequest,
  scope: CallContext,
): Promise<IdentityServiceRegisterResponse> {
  const registration = readRegistration(context, request);
  let isCaughtUp = false;
  for (let tries = 1; ; tries += 1) {
    const asking = { principal: scope.principal, deadlineMs: scope.remainingMs(), signal: scope.signal };
    try {
      const known = context.directory.recordOf(registration.id);
      const grant =
        known === undefined
          ? await take(context, registration, asking)
          : await again(context, registration, known, asking);
      // Only the store knows whether another has taken the id meanwhile, and it was not asked.
      const isSure = "hold" in grant || isCaughtUp;
      if (isSure) return { identity: await shown(context, registration, grant, scope.principal) };
    } catch (thrown) {
      if (!(thrown instanceof Fault) || !changedReasons.has(thrown.reason) || tries >= mostTries) throw thrown;
    }
    const { key } = registration;
    await context.reader.hub.reach(await context.store.freshRevision(key, asking), catchUpMs, scope.signal);
    isCaughtUp = true;
  }
}

async function take(context: IdentityContext, registration: Registration, asking: Asking): Promise<Grant> {
  const { claimant, key, record } = registration;
  const claims = [{ lease: leaseKeyToWire(key), spec: record.spec }];
  return grantIn((await context.store.acquire({ claims, claimant }, asking)).grants[0]);
}

function grantIn(grant: Grant | undefined): Grant {
  if (grant !== undefined) return grant;
  throw new Fault({ code: "INTERNAL", reason: "MALFORMED_MESSAGE", message: "the store's answer has no grant" });
}

/** The id has a record: of this process, of a former start of it, or of one whose departure is not finished. */
async function again(
  context: IdentityContext,
  registration: Registration,
  known: LeaseRecord,
  asking: Asking,
): Promise<Grant | Hold> {
  const { claimant, holder, id, key, profile } = registration;
  const hold = known.holds.at(-1);
  if (hold === undefined) {
    if (departureOf(known) !== undefined) {
      // A departure that was decided is finished before the id begins a new life.
      if (!(await context.departures.finish(id, "registered again", asking))) throw notFinished(id);
      return take(context, registration, asking);
    }
    await refresh(context, registration, known, asking);
    return take(context, registration, asking);
  }
  const isOwn = hold.holder === holder && hold.principal === asking.principal;
  const isRunning = hold.revocation === undefined;
  if (isOwn && isRunning && isSameKey(hold, claimant) && isSameProfile(known, registration.record)) return hold;
  if (!isOwn && profile.naming === "fresh") throw taken(id, hold);
  const expectedRevision = await refresh(context, registration, known, asking);
  const note = { reason: takeoverNote(profile.host, profile.processId) };
  const lease = leaseKeyToWire(key);
  return grantIn((await context.store.steal({ lease, expectedRevision, claimant, note }, asking)).grant);
}

/** Writes the new profile for the term that is about to begin, if it differs; gives the record's revision. */
async function refresh(
  { store }: IdentityContext,
  { key, record }: Registration,
  known: LeaseRecord,
  asking: Asking,
): Promise<bigint> {
  const revision = known.revision.sequence;
  if (isSameProfile(known, record)) return revision;
  const { lease } = await store.update(
    {
      lease: leaseKeyToWire(key),
      expectedRevision: revision,
      spec: record.spec,
      updateMask: ["lease_duration", "labels", "annotations"],
    },
    asking,
  );
  return lease?.revision ?? revision;
}

function isSameProfile({ spec }: LeaseRecord, { text }: ProfileRecord): boolean {
  return spec.annotations[identityAnnotations.profile] === text && !(identityAnnotations.departed in spec.annotations);
}

function isSameKey({ details }: Hold, { renewKeyHash }: Claimant): boolean {
  return (details?.renewKeyHash ?? "") === Buffer.from(renewKeyHash).toString("hex");
}

/** What the caller is answered: the record as this replica has read it, or what is known from the grant if it lags. */
async function shown(
  { clock, directory, reader }: IdentityContext,
  { id, key, record }: Registration,
  grant: Grant | Hold,
  principal: string,
): Promise<Identity> {
  const token = "hold" in grant ? (grant.hold?.token ?? 0n) : grant.token;
  if ("hold" in grant) await reader.hub.reach(grant.revision, catchUpMs).catch(() => undefined);
  const known = directory.recordOf(id);
  const partition = directory.partitionOf(key);
  if (known?.holds.at(-1)?.token === token) return identityToWire(known, partition, clock.now());
  const { hold, revision = 0n } = "hold" in grant ? grant : {};
  return Identity.fromPartial({
    id,
    profile: IdentityProfile.decode(Buffer.from(record.text, "base64")),
    instanceUid: hold?.holder.slice(id.length + 1) ?? "",
    token,
    holdId: hold?.holdId ?? 0n,
    partition,
    revision,
    liveness: IdentityLiveness.LIVE,
    beatAge: durationFromMs(0),
    ...(hold?.acquiredAt === undefined ? {} : { registeredAt: hold.acquiredAt, renewedAt: hold.acquiredAt }),
    principal,
  });
}

function sha256(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(createHash("sha256").update(bytes).digest());
}

function readRegistration(context: IdentityContext, request: IdentityServiceRegisterRequest): Registration {
  const wire = completeProfile(request.profile ?? IdentityProfile.create(), context.defaults);
  const profile = profileFromWire(wire);
  const broken: FieldViolation[] = [...checkProfile(profile, context.limits), ...checkSecrets(request, profile)];
  const id = broken.length > 0 ? request.id : request.id || makeId(context, profile);
  if (broken.length === 0) broken.push(...checkIdentityId(id, profile, sha256));
  const record = profileRecord(wire);
  if (record.text.length > maximumAnnotationBytes - 64) {
    const rule = `must be at most ${Math.floor(((maximumAnnotationBytes - 64) * 3) / 4)} bytes in all`;
    broken.push({ field: "profile", rule, value: `${Buffer.byteLength(record.text, "base64")} bytes` });
  }
  if (broken.length > 0) throw invalid(broken);
  const holder = holderOf(id, request.instanceUid);
  const claimant = Claimant.fromPartial({ holder, renewKeyHash: request.renewKeyHash });
  return { id, key: leaseKey(context.directory.namespace, id), holder, profile, record, claimant };
}

function makeId({ random }: IdentityContext, { component, host, naming, processId }: CoreProfile): string {
  if (naming === "stable") return stableIdentityId(host, component, sha256);
  return freshIdentityId(
    host,
    processId,
    freshDigits(() => random.next()),
  );
}

function checkSecrets(
  { instanceUid, renewKeyHash }: IdentityServiceRegisterRequest,
  { naming }: CoreProfile,
): readonly FieldViolation[] {
  const broken: FieldViolation[] = [];
  if (renewKeyHash.length !== 0 && renewKeyHash.length !== 32) {
    broken.push({ field: "renew_key_hash", rule: "must be empty or 32 bytes", value: `${renewKeyHash.length} bytes` });
  }
  if (!/^[!-~]{0,64}$/.test(instanceUid) || (naming === "stable" && instanceUid === "")) {
    const rule = "must be 1 to 64 printable bytes, and may be empty only for a fresh id";
    broken.push({ field: "instance_uid", rule, value: JSON.stringify(instanceUid.slice(0, 80)) });
  }
  return broken;
}

function taken(id: string, { holder, token }: Hold): Fault {
  return new Fault({
    code: "FAILED_PRECONDITION",
    reason: "IDENTITY_COLLISION",
    message: `identity ${id} belongs to ${holder} (token ${token}): a fresh id must be new, make another`,
    details: { applied: "NO", holder, token },
  });
}

function notFinished(id: string): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    reason: "TOMBSTONE",
    message: `identity ${id} has departed and what depended on it is still on its way out: try again`,
    details: { applied: "NO", retryAfterMs: 1_000 },
  });
}
