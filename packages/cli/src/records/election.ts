import {
  type Candidate,
  Election,
  ElectionServiceGetRequest,
  ElectionServiceListRequest,
  LeadershipState,
} from "@tenure/contracts";
import { systemClock } from "@tenure/kernel";
import { isTenureError, type Tenure } from "@tenure/sdk";
import { CommandFailure, exitCodes } from "../exit-code.ts";
import { factLines, tableLines } from "../output/table.ts";
import { wireJson } from "../output/wire-json.ts";
import { candidateColumns } from "./candidate.ts";
import type { Kind } from "./kind.ts";
import { leaseKind } from "./lease.ts";
import { firstLease, selectorOf } from "./lease-name.ts";
import { pages } from "./pages.ts";
import { ageText, countText, durationText, leaseText, settingText, word } from "./words.ts";

const stateColours = { led: "good", vacant: "bad", ending: "warn" } as const;

/** Elections: leases with candidates or a strategy. */
export const electionKind: Kind<Election> = {
  noun: "elections",
  singular: "election",
  positionals: [{ name: "NAME" }],
  columns: [
    { title: "LEASE", text: ({ lease }) => leaseText(lease?.key) },
    {
      title: "STATE",
      text: ({ leadership }) => word(LeadershipState, leadership?.state ?? 0),
      colour: (text) => stateColours[text as keyof typeof stateColours],
    },
    { title: "LEADER", text: ({ leadership }) => leadership?.hold?.holder ?? "" },
    { title: "TOKEN", text: ({ leadership }) => countText(leadership?.hold?.token ?? 0n) },
    { title: "SINCE", text: ({ leadership }, nowMs) => ageText(leadership?.since, nowMs) },
    { title: "CANDIDATES", text: ({ candidates, lease }) => String(lease?.candidates ?? candidates.length) },
    { title: "CHANGES-24H", text: ({ recentTransitions }) => String(recentTransitions) },
    { title: "SUCCESSOR", wide: true, text: ({ leadership }) => leadership?.successor ?? "" },
    { title: "STRATEGY", wide: true, text: ({ lease }) => settingText(lease?.strategy) },
  ],
  name: ({ lease }) => leaseText(lease?.key),
  json: (election) => wireJson(Election, election),
  list: (tenure, invocation) =>
    pages(async (token) => {
      const selector = selectorOf(invocation);
      const request = ElectionServiceListRequest.fromPartial({ selector, page: { token } });
      const { elections, page } = await tenure.session.call("ElectionService.List", request);
      return { items: elections, page };
    }),
  get: (tenure, invocation) => readElection(tenure, firstLease(invocation)),
  describe: ({ candidates, lastDecisionId, leadership, lease, recentTransitions, vacantFor }) => [
    ...factLines([
      ["Election", leaseText(lease?.key)],
      ["State", word(LeadershipState, leadership?.state ?? 0)],
      ["Leader", leadership?.hold?.holder ?? ""],
      ["Token", countText(leadership?.hold?.token ?? 0n)],
      ["Successor", leadership?.successor ?? ""],
      ["Vacant for", durationText(vacantFor)],
      ["Strategy", settingText(lease?.strategy)],
      ["Changes in 24 h", String(recentTransitions)],
      ["Last decision", lastDecisionId],
    ]),
    ...candidateLines(candidates),
  ],
  async *watch(tenure, invocation) {
    // An election changes when its lease does; what its candidates do shows there as soon as it matters.
    for await (const { item, kind } of leaseKind.watch(tenure, invocation)) {
      const key = item.key;
      if (key === undefined) continue;
      const election = kind === "removed" ? Election.fromPartial({ lease: item }) : await found(tenure, key);
      const isElection = election !== undefined && (election.candidates.length > 0 || item.strategy !== undefined);
      if (isElection) yield { kind, item: election };
    }
  },
};

/** Reads an election as it is now. */
export async function readElection(tenure: Tenure, lease: ReturnType<typeof firstLease>): Promise<Election> {
  const request = ElectionServiceGetRequest.fromPartial({ lease, read: { consistency: 2 } });
  const { election } = await tenure.session.call("ElectionService.Get", request);
  if (election === undefined) throw new CommandFailure(exitCodes.notFound, `there is no lease ${leaseText(lease)}`);
  return election;
}

/** The candidates of one lease under each other, after an empty line; nothing if there are none. */
function candidateLines(candidates: readonly Candidate[]): readonly string[] {
  if (candidates.length === 0) return [];
  const layout = { isWide: false, nowMs: systemClock.wall() };
  return ["", ...tableLines(candidateColumns, candidates, { paint: (text) => text }, layout)];
}

async function found(tenure: Tenure, lease: ReturnType<typeof firstLease>): Promise<Election | undefined> {
  try {
    return await readElection(tenure, lease);
  } catch (error) {
    if (isTenureError(error) && error.code === "NOT_FOUND") return undefined;
    throw error;
  }
}
