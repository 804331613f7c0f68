import {
  Candidate,
  CandidatePreference,
  CandidateServiceGetRequest,
  CandidateServiceListRequest,
  CandidateServiceWatchRequest,
  CandidateStatus,
} from "@tenure/contracts";
import type { Tenure } from "@tenure/sdk";
import type { Invocation } from "../command/command.ts";
import { CommandFailure, exitCodes } from "../exit-code.ts";
import { type Column, factLines } from "../output/table.ts";
import { wireJson } from "../output/wire-json.ts";
import { follow } from "./follow.ts";
import type { Kind } from "./kind.ts";
import { firstLease, selectorOf } from "./lease-name.ts";
import { pages } from "./pages.ts";
import { ageText, durationText, instantText, leaseText, pairsText, strategyText, word } from "./words.ts";

const statusColours = { live: "good", registered: "quiet", pinged: "quiet", silent: "warn", expired: "bad" } as const;

/** The columns of candidates, those of one lease without its name. */
export const candidateColumns: readonly Column<Candidate>[] = [
  { title: "CANDIDATE", text: ({ key }) => key?.name ?? "" },
  {
    title: "STATUS",
    text: (candidate) => candidateStatus(candidate),
    colour: (text) => statusColours[text as keyof typeof statusColours] ?? "warn",
  },
  { title: "BINARY", text: ({ spec }) => spec?.binaryVersion ?? "" },
  { title: "COMPATIBILITY", text: ({ spec }) => spec?.compatibilityVersion ?? "" },
  { title: "PRIORITY", text: ({ priority }) => (priority === undefined ? "" : String(priority.value)) },
  { title: "SEEN", text: ({ renewedAt }, nowMs) => ageText(renewedAt, nowMs) },
  { title: "STRATEGY", wide: true, text: ({ spec }) => strategyText(spec?.strategy) },
  { title: "ZONE", wide: true, text: ({ spec }) => spec?.zone ?? "" },
  { title: "LABELS", wide: true, text: ({ spec }) => pairsText(spec?.labels) },
  { title: "REGISTERED", wide: true, text: ({ registeredAt }, nowMs) => ageText(registeredAt, nowMs) },
];

/** How the server sees a candidate, with what keeps it from being elected. */
export function candidateStatus({ cordon, coolDown, status }: Candidate): string {
  if (cordon !== undefined) return "cordoned";
  return coolDown === undefined ? word(CandidateStatus, status) : "cool-down";
}

/** Candidates. */
export const candidateKind: Kind<Candidate> = {
  noun: "candidates",
  singular: "candidate",
  positionals: [{ name: "LEASE" }, { name: "CANDIDATE" }],
  columns: [{ title: "LEASE", text: ({ key }) => leaseText(key?.lease) }, ...candidateColumns],
  name: ({ key }) => `${leaseText(key?.lease)}/${key?.name ?? ""}`,
  json: (candidate) => wireJson(Candidate, candidate),
  list(tenure, invocation) {
    const selector = { lease: leasesOf(invocation) };
    return pages(async (token) => {
      const request = CandidateServiceListRequest.fromPartial({ selector, page: { token } });
      const { candidates, page } = await tenure.session.call("CandidateService.List", request);
      return { items: candidates, page };
    });
  },
  get: (tenure, invocation) => readCandidate(tenure, candidateNamed(invocation)),
  describe: (candidate) => factLines(candidateFacts(candidate)),
  watch(tenure, invocation) {
    const { signal } = invocation;
    const request = CandidateServiceWatchRequest.fromPartial({ selectors: [{ lease: leasesOf(invocation) }] });
    return follow(
      tenure,
      async function* () {
        for await (const { events, position } of tenure.session.stream("CandidateService.Watch", request, { signal })) {
          yield { events: events.map(({ candidate, kind }) => ({ kind, item: candidate })), position };
        }
      },
      candidateKind.name,
      signal,
    );
  },
};

/** The candidate that the first two words name. */
export function candidateNamed(invocation: Invocation) {
  return { lease: firstLease(invocation), name: invocation.positionals[1] ?? "" };
}

/** Reads a candidate as it is now. */
export async function readCandidate(tenure: Tenure, candidate: ReturnType<typeof candidateNamed>): Promise<Candidate> {
  const request = CandidateServiceGetRequest.fromPartial({ candidate, read: { consistency: 2 } });
  const answer = await tenure.session.call("CandidateService.Get", request);
  if (answer.candidate !== undefined) return answer.candidate;
  throw new CommandFailure(exitCodes.notFound, `there is no candidate ${candidate.name}`);
}

function leasesOf(invocation: Invocation) {
  return invocation.positionals[0] === undefined ? selectorOf(invocation) : firstLease(invocation);
}

function reasonText({ reason }: { readonly reason: string }): string {
  return reason === "" ? "" : `: ${reason}`;
}

function candidateFacts(candidate: Candidate): readonly (readonly [string, string])[] {
  const { cordon, coolDown, key, ping, priority, registeredAt, renewedAt, spec } = candidate;
  const priorityLife = priority?.expiresAfter === undefined ? "" : ` for ${durationText(priority.expiresAfter)}`;
  return [
    ["Candidate", key?.name ?? ""],
    ["Lease", leaseText(key?.lease)],
    ["Status", candidateStatus(candidate)],
    ["Cordon", cordon === undefined ? "" : `by ${cordon.author}: ${cordon.reason}`],
    ["Cool-down", durationText(coolDown)],
    [
      "Priority",
      priority === undefined
        ? ""
        : `${priority.value}${priorityLife}, given by ${priority.author}${reasonText(priority)}`,
    ],
    ["Binary version", spec?.binaryVersion ?? ""],
    ["Compatibility", spec?.compatibilityVersion ?? ""],
    ["Strategy", strategyText(spec?.strategy)],
    ["Preference", word(CandidatePreference, spec?.preference ?? 0)],
    ["Zone", spec?.zone ?? ""],
    ["Labels", pairsText(spec?.labels)],
    ["Validity", durationText(spec?.validity)],
    ["Registered", instantText(registeredAt)],
    ["Last seen", instantText(renewedAt)],
    ["Last ping", ping === undefined ? "" : `${ping.number}, answered ${ping.answeredNumber}`],
    ["Principal", candidate.principal],
    ["Revision", String(candidate.revision)],
  ];
}
