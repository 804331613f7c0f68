import {
  type Duration,
  durationToMs,
  HoldOrigin,
  Lease,
  LeaseServiceGetRequest,
  LeaseServiceWatchRequest,
  LeaseState,
  ReadConsistency,
  TermEndReason,
} from "@tenure/contracts";
import { isTenureError, type Tenure } from "@tenure/sdk";
import { CommandFailure, exitCodes } from "../exit-code.ts";
import { factLines } from "../output/table.ts";
import { wireJson } from "../output/wire-json.ts";
import { follow } from "./follow.ts";
import type { Kind } from "./kind.ts";
import { firstLease, selectorOf } from "./lease-name.ts";
import { settingFacts } from "./lease-settings.ts";
import { ageText, countText, durationText, instantText, leaseText, settingText, word } from "./words.ts";

const stateColours = { held: "good", free: "quiet", ending: "warn", pending: "warn" } as const;

/** Leases. */
export const leaseKind: Kind<Lease> = {
  noun: "leases",
  singular: "lease",
  positionals: [{ name: "NAME" }],
  columns: [
    { title: "LEASE", text: ({ key }) => leaseText(key) },
    {
      title: "STATE",
      text: ({ state }) => word(LeaseState, state),
      colour: (text) => stateColours[text as keyof typeof stateColours] ?? "bad",
    },
    { title: "HOLDER", text: holderText },
    { title: "TOKEN", text: ({ holds, lastToken }) => countText(holds[0]?.token ?? lastToken) },
    { title: "HELD-FOR", text: ({ holds }, nowMs) => ageText(holds[0]?.acquiredAt, nowMs) },
    { title: "CANDIDATES", wide: true, text: ({ candidates }) => String(candidates) },
    { title: "SUCCESSOR", wide: true, text: ({ preferredHolder }) => preferredHolder },
    { title: "STRATEGY", wide: true, text: ({ strategy }) => settingText(strategy) },
    { title: "LAST-END", wide: true, text: ({ lastEndReason }) => word(TermEndReason, lastEndReason) },
    { title: "REVISION", wide: true, text: ({ revision }) => String(revision) },
  ],
  name: ({ key }) => leaseText(key),
  json: (lease) => wireJson(Lease, lease),
  list: (tenure, invocation) => tenure.leases.list(selectorOf(invocation)),
  get: (tenure, invocation) => readLease(tenure, firstLease(invocation)),
  describe: (lease) => factLines(leaseFacts(lease)),
  watch(tenure, invocation) {
    const { positionals, signal } = invocation;
    const selector = positionals[0] === undefined ? selectorOf(invocation) : firstLease(invocation);
    const request = LeaseServiceWatchRequest.fromPartial({ selectors: [selector] });
    return follow(
      tenure,
      async function* () {
        for await (const { events, position } of tenure.session.stream("LeaseService.Watch", request, { signal })) {
          yield { events: events.map(({ kind, lease }) => ({ kind, item: lease })), position };
        }
      },
      leaseKind.name,
      signal,
    );
  },
};

/** Who holds a lease; several holders of a shared one with commas between. */
export function holderText({ holds }: Lease): string {
  return holds.map(({ holder }) => holder).join(",");
}

/** Reads a lease as it is now. */
export async function readLease(tenure: Tenure, lease: ReturnType<typeof firstLease>): Promise<Lease> {
  const read = { consistency: ReadConsistency.LINEARIZABLE };
  const answer = await tenure.session.call("LeaseService.Get", LeaseServiceGetRequest.fromPartial({ lease, read }));
  if (answer.lease !== undefined) return answer.lease;
  throw new CommandFailure(exitCodes.notFound, `there is no lease ${leaseText(lease)}`);
}

/** Reads a lease as it is now; undefined if there is none. */
export async function findLease(tenure: Tenure, lease: ReturnType<typeof firstLease>): Promise<Lease | undefined> {
  try {
    return await readLease(tenure, lease);
  } catch (error) {
    if (isTenureError(error) && error.code === "NOT_FOUND") return undefined;
    throw error;
  }
}

function nonZero(duration: Duration | undefined): string {
  return duration === undefined || durationToMs(duration) === 0 ? "" : durationText(duration);
}

function leaseFacts(lease: Lease): readonly (readonly [string, string])[] {
  const { endOfTerm, eligibility, holds, pending, spec, strategyConflict, tombstone } = lease;
  const asked = endOfTerm?.author === "" ? "" : ` by ${endOfTerm?.author}`;
  return [
    ["Lease", leaseText(lease.key)],
    ["State", word(LeaseState, lease.state)],
    ...holds.flatMap(({ acquiredAt, holder, leaseDuration, origin, principal, renewedAt, token, units }) => [
      ["Holder", holder] as const,
      ["  token", String(token)] as const,
      ["  since", instantText(acquiredAt)] as const,
      ["  last renewal", instantText(renewedAt)] as const,
      ["  lease duration", durationText(leaseDuration)] as const,
      ["  units", units > 1 ? String(units) : ""] as const,
      ["  origin", word(HoldOrigin, origin)] as const,
      ["  principal", principal] as const,
    ]),
    ["Chosen", pending === undefined ? "" : `${pending.candidate}, which has not accepted yet`],
    ["Asked to end", endOfTerm === undefined ? "" : `${instantText(endOfTerm.markedAt)}${asked}: ${endOfTerm.reason}`],
    ["Successor", lease.preferredHolder],
    ["Free after", nonZero(lease.freeAfter)],
    ["Tombstone", tombstone === undefined ? "" : `${word(TermEndReason, tombstone.reason)}: ${tombstone.note}`],
    ["Last token", countText(lease.lastToken)],
    ["Last end", word(TermEndReason, lease.lastEndReason)],
    ...settingFacts(spec),
    ["Strategy", settingText(lease.strategy)],
    ["Conflict", strategyConflict === undefined ? "" : "the candidates' strategies cannot be reconciled"],
    ["Eligible", (eligibility?.components ?? []).map(({ name, versionRange }) => `${name} ${versionRange}`).join(", ")],
    ["Candidates", String(lease.candidates)],
    ["Waiting", countText(lease.waiters)],
    ["Created", instantText(lease.createdAt)],
    ["Revision", String(lease.revision)],
  ];
}
