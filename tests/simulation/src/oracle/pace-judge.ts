import type { StoreServiceMarkEndOfTermRequest } from "@tenure/contracts";
import { defaultLeaseSpec, type Event, type LeaseSpec, type TermEndReason } from "@tenure/core";
import type { StoredBatch } from "@tenure/lease-store/replica";
import type { ElectionNode } from "../store/election-node.ts";
import { demand } from "./violation.ts";
import { toleranceMs, type WriterSight } from "./writer-sight.ts";

/** Ends of term that cost a candidate its cool-down. */
const losses: ReadonlySet<TermEndReason> = new Set(["expired", "ended", "preempted", "steppedDown"]);

/** What is known of one lease. */
interface Course {
  spec: LeaseSpec;
  /** Since when nobody holds it and nobody is chosen for it. */
  free: StoredBatch;
  granted: StoredBatch | undefined;
  /** Whether the running term has been asked to end. */
  isMarked: boolean;
  /** The candidate whose term runs; undefined for other terms. */
  leader: string | undefined;
  readonly candidates: Set<string>;
}

/**
 * Judges how quickly a lease with candidates changes hands: it is claimed without an election only when it has been free
 * for its fallback delay (rule 21), no coordinator asks a term to end before its minimum age, and who has lost a term
 * sits out the lease's cool-down. That nobody who sits out is chosen is the election judge's.
 */
export class PaceJudge {
  readonly #sight: WriterSight;
  readonly #courses = new Map<string, Course>();

  constructor(sight: WriterSight) {
    this.#sight = sight;
  }

  /** Whether a coordinator may ask a term to end, by its own sight of its beginning; who is to follow it may name at any time. */
  marks({ instance, process, sights }: ElectionNode, lease: string, request: StoreServiceMarkEndOfTermRequest): void {
    const { granted, isMarked = false, spec } = this.#courses.get(lease) ?? {};
    if (isMarked || request.endOfTerm === undefined || granted === undefined || spec === undefined) return;
    const ageMs = process.now() - (sights.seenAtMs(granted.partition, granted.sequence) ?? Number.NaN) + toleranceMs;
    const what = () => `${instance} ends a term of ${lease} after ${ageMs} of ${spec.minimumTermMs} ms`;
    demand(!(ageMs < spec.minimumTermMs), "minimum term", what);
  }

  judge(batch: StoredBatch, event: Event): void {
    if (!("lease" in event)) return;
    const course = this.#courseOf(event.lease, batch);
    switch (event.kind) {
      case "leaseCreated":
      case "leaseUpdated":
        course.spec = event.spec;
        return;
      case "candidatePut":
        course.candidates.add(event.candidate);
        return;
      case "candidateRemoved":
        course.candidates.delete(event.candidate);
        return;
      case "holdGranted":
        if (event.hold.origin !== "elected" && course.candidates.size > 0)
          this.#expectPatient(batch, event.lease, course);
        course.granted = batch;
        course.isMarked = false;
        course.leader = event.hold.details?.candidate;
        return;
      case "endOfTermMarked":
      case "endOfTermCleared":
        course.isMarked = event.kind === "endOfTermMarked";
        return;
      case "holdEnded":
        if (losses.has(event.endReason)) expectRest(batch, event.lease, course);
        course.free = batch;
        return;
      case "pendingLapsed":
        course.free = batch;
        return;
      case "leaseDeleted":
        if (event.isRemoved) course.free = batch;
        return;
      case "tombstoneRemoved":
        this.#courses.delete(event.lease);
        return;
      default:
        return;
    }
  }

  #expectPatient(batch: StoredBatch, lease: string, { candidates, free, spec }: Course): void {
    const what = `${lease} was claimed in batch ${batch.sequence} beside ${[...candidates].join(", ")}`;
    const { fallbackDelayMs } = spec;
    demand(fallbackDelayMs !== undefined, "rule 21", () => `${what}, and has no fallback delay`);
    const freeMs = this.#sight.mostMs(batch, free);
    demand(
      freeMs >= fallbackDelayMs,
      "rule 21",
      () => `${what} when it was free for ${freeMs} of ${fallbackDelayMs} ms`,
    );
  }

  #courseOf(lease: string, free: StoredBatch): Course {
    const known = this.#courses.get(lease);
    if (known !== undefined) return known;
    const course = {
      spec: defaultLeaseSpec,
      free,
      granted: undefined,
      isMarked: false,
      leader: undefined,
      candidates: new Set<string>(),
    };
    this.#courses.set(lease, course);
    return course;
  }
}

/** An operator's mark may say another time to sit out, so only that there is one is asked. */
function expectRest({ events, sequence }: StoredBatch, lease: string, { candidates, leader, spec }: Course): void {
  if (leader === undefined || !candidates.has(leader) || spec.coolDownMs === 0) return;
  const isTold = events.some(
    (event) => event.kind === "candidateCooledDown" && event.lease === lease && event.candidate === leader,
  );
  demand(isTold, "cool-down", () => `${leader} lost its term of ${lease} in batch ${sequence}, and does not sit out`);
}
