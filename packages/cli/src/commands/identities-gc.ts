import {
  CollectionItem,
  CollectionOutcome,
  type CollectionState,
  HoldBackReason,
  IdentityServiceCollectRequest,
} from "@tenure/contracts";
import type { Command } from "../command/command.ts";
import { exitCodes } from "../exit-code.ts";
import type { Column } from "../output/table.ts";
import { wireJson } from "../output/wire-json.ts";
import { durationText, leaseText, word } from "../records/words.ts";
import { changeFlagsWith, mayGoOn, reasonOf, showPresent } from "./change.ts";
import { showAll } from "./view-commands.ts";

const columns: readonly Column<CollectionItem>[] = [
  { title: "SUBJECT", text: subjectText },
  { title: "OUTCOME", text: ({ outcome }) => word(CollectionOutcome, outcome) },
  { title: "EXPIRED-FOR", text: ({ expiredFor }) => durationText(expiredFor) },
];

/** `identities gc`: collect what is dead now. */
export const identitiesGcCommand: Command = {
  path: ["identities", "gc"],
  summary: "Collect what is dead now instead of at the next round",
  details: "A collection that holds back stays so, unless --go-on names the hold-back and --reason says why.",
  flags: [
    { name: "go-on", value: "ID", summary: "let the hold-back of this name go on" },
    ...changeFlagsWith("why; required with --go-on, and logged by the collector"),
  ],
  examples: [
    ["tenure identities gc --dry-run", "what would be collected"],
    ["tenure identities gc --go-on h-17 --reason 'the zone is really gone' --yes", "after a look"],
  ],
  async run(invocation) {
    const tenure = await invocation.connect();
    const collect = (partial: Parameters<typeof IdentityServiceCollectRequest.fromPartial>[0]) =>
      tenure.session.change("IdentityService.Collect", (attempt) =>
        IdentityServiceCollectRequest.fromPartial({ attempt, ...partial }),
      );
    const { state } = await collect({ stateOnly: true });
    invocation.terminal.note(stateText(state));
    const dryRun = invocation.values.has("dry-run");
    const round = { goOnHoldBackId: invocation.values.text("go-on") ?? "", note: reasonOf(invocation) };
    if (!dryRun) {
      showPresent(invocation, columns, (await collect({ ...round, dryRun: true })).items);
      if (!(await mayGoOn(invocation, "delete what is dead"))) return exitCodes.error;
    }
    const { items } = await collect({ ...round, dryRun });
    const kind = { noun: "dead records", columns, name: subjectText };
    showAll({ ...kind, json: (item) => wireJson(CollectionItem, item) }, items, invocation);
    return exitCodes.ok;
  },
};

function subjectText({ subject }: CollectionItem): string {
  if (subject?.$case === "identity") return `identity ${subject.value}`;
  if (subject?.$case === "candidate") return `candidate ${leaseText(subject.value.lease)}/${subject.value.name}`;
  return `lease ${leaseText(subject?.value)}`;
}

function stateText(state: CollectionState | undefined): string {
  if (state === undefined || state.collector === "") return "nobody collects at present";
  const { collector, dead, holdBack, holdBackId, total } = state;
  const reason = word(HoldBackReason, holdBack);
  const held = reason === "" ? "" : `; it holds back (${reason}), go on with --go-on ${holdBackId}`;
  return `${collector} collects: ${dead} of ${total} identities are dead${held}`;
}
