import type { CandidateRecord } from "../record/candidate.ts";
import type { LeaseRecord } from "../record/lease.ts";
import { elapsedMs, remainingMs } from "../record/position.ts";
import type { Transition } from "../record/transition.ts";
import type { ElectionView } from "./view.ts";

/** Whether and how a candidate showed that it is alive. `notAsked`: nothing recent is known, it has to be asked. */
export type CandidateAnswer = "notAsked" | "ping" | "liveStream" | "awaited" | "silent";

/** Whether an answer lets its candidate be chosen (rule 19). */
export function hasAnswered(answer: CandidateAnswer): boolean {
  return answer === "ping" || answer === "liveStream";
}

/**
 * What is known of a candidate being alive. A beat on its live stream counts; so does the answer to the newest ping
 * while its round lasts. An unanswered ping makes it awaited, then silent, until it renews or answers after all.
 */
export function answerOf(candidate: CandidateRecord, view: ElectionView, now: number): CandidateAnswer {
  const { assumptions, beats, timing } = view;
  if (assumptions?.silent.has(candidate.name)) return "silent";
  if (assumptions?.answering.has(candidate.name)) return "ping";
  const beatAtMs = beats.get(candidate.name);
  if (beatAtMs !== undefined && now - beatAtMs <= timing.liveBoundMs) return "liveStream";
  const answer = answerToPing(candidate, view, now);
  // A question asks nobody. Who was not asked is taken to be there, so that the answer says what would come of it.
  return assumptions !== undefined && (answer === "notAsked" || answer === "awaited") ? "ping" : answer;
}

function answerToPing(candidate: CandidateRecord, view: ElectionView, now: number): CandidateAnswer {
  const { ping, renewal } = candidate;
  const { answerBoundMs, roundSlackMs } = view.timing;
  if (ping === undefined) return unasked(candidate, view);
  if (ping.answeredNumber >= ping.number) {
    const { answered, pinged } = ping;
    if (answered === undefined || answered.seenAtMs <= view.followedSinceMs) return unasked(candidate, view);
    const isOfThisRound = elapsedMs(pinged, now) <= answerBoundMs + roundSlackMs;
    return isOfThisRound || elapsedMs(answered, now) <= answerBoundMs ? "ping" : unasked(candidate, view);
  }
  if (elapsedMs(ping.pinged, now) < answerBoundMs) return "awaited";
  return renewal.seenAtMs > ping.pinged.seenAtMs ? unasked(candidate, view) : "silent";
}

function unasked(candidate: CandidateRecord, { record }: ElectionView): CandidateAnswer {
  return lossOf(candidate, record) === undefined ? "notAsked" : "silent";
}

/**
 * The end of a candidate's own last term, if that ran out for want of renewals and it has shown no life since. It was
 * silent for L, longer than any ping would wait, so nobody is kept waiting for it; it leads again if it answers.
 */
function lossOf({ name, renewal }: CandidateRecord, record: LeaseRecord): Pick<Transition, "position"> | undefined {
  const end = record.lastEndOf(name);
  return end?.cause === "expired" && renewal.sequence <= end.position.sequence ? end : undefined;
}

/** Ms until an awaited candidate counts as silent; 0 for every other. */
export function untilSilentMs({ ping }: CandidateRecord, { timing }: ElectionView, now: number): number {
  return ping === undefined ? 0 : remainingMs(ping.pinged, timing.answerBoundMs, now);
}

/**
 * Ms until a silent candidate may be asked again: from the last ping, doubled for each ping in a row that it left
 * unanswered, or `afterLossMs` from the loss of its term if it was not asked since. The numbers in the record are all
 * that this needs, so every coordinator comes to the same instant.
 */
export function untilReaskMs(
  candidate: CandidateRecord,
  { record, timing }: ElectionView,
  now: number,
  afterLossMs = 0,
): number {
  const { ping } = candidate;
  const loss = lossOf(candidate, record);
  if (loss !== undefined && (ping === undefined || loss.position.sequence > ping.pinged.sequence)) {
    return remainingMs(loss.position, afterLossMs, now);
  }
  if (ping === undefined) return 0;
  const unanswered = Number(ping.number - ping.answeredNumber);
  const doublings = Math.min(Math.max(unanswered - 1, 0), 16);
  return remainingMs(ping.pinged, Math.min(timing.firstReaskMs * 2 ** doublings, timing.longestReaskMs), now);
}

/** Ms until what is known of an answered candidate is too old to go by. */
export function untilStaleMs(candidate: CandidateRecord, { beats, timing }: ElectionView, now: number): number {
  const beatAtMs = beats.get(candidate.name);
  const beatLeftMs = beatAtMs === undefined ? 0 : beatAtMs + timing.liveBoundMs - now;
  const { answered } = candidate.ping ?? {};
  const answerLeftMs = answered === undefined ? 0 : remainingMs(answered, timing.answerBoundMs, now);
  return Math.max(beatLeftMs, answerLeftMs, 0) + 1;
}
