import {
  ChangeKind,
  Identity,
  IdentityChange,
  IdentityLiveness,
  IdentityServiceGetRequest,
  IdentityServiceListRequest,
  IdentityServiceWatchRequest,
} from "@tenure/contracts";
import { CommandFailure, exitCodes } from "../exit-code.ts";
import { factLines } from "../output/table.ts";
import { wireJson } from "../output/wire-json.ts";
import { follow } from "./follow.ts";
import type { Kind } from "./kind.ts";
import { pages } from "./pages.ts";
import { ageText, durationText, instantText, leaseText, pairsText, word } from "./words.ts";

const livenessColours = { live: "good", silent: "warn", expired: "bad", gone: "quiet" } as const;

/** Every liveness but GONE, which keeps records only while their dependents go. */
const shown = [IdentityLiveness.LIVE, IdentityLiveness.SILENT, IdentityLiveness.EXPIRED];

const gone: ReadonlySet<IdentityChange> = new Set([IdentityChange.LEFT, IdentityChange.COLLECTED]);

/** Identities. */
export const identityKind: Kind<Identity> = {
  noun: "identities",
  singular: "identity",
  positionals: [{ name: "ID" }],
  columns: [
    { title: "IDENTITY", text: ({ id }) => id },
    { title: "COMPONENT", text: ({ profile }) => profile?.component ?? "" },
    {
      title: "LIVENESS",
      text: ({ liveness }) => word(IdentityLiveness, liveness),
      colour: (text) => livenessColours[text as keyof typeof livenessColours],
    },
    { title: "VERSION", text: ({ profile }) => profile?.version ?? "" },
    { title: "BEAT", text: ({ beatAge }) => durationText(beatAge) },
    { title: "HOST", wide: true, text: ({ profile }) => profile?.host ?? "" },
    { title: "ZONE", wide: true, text: ({ profile }) => profile?.zone ?? "" },
    { title: "AGE", wide: true, text: ({ registeredAt }, nowMs) => ageText(registeredAt, nowMs) },
    { title: "LABELS", wide: true, text: ({ profile }) => pairsText(profile?.labels) },
  ],
  name: ({ id }) => id,
  json: (identity) => wireJson(Identity, identity),
  list: (tenure) =>
    pages(async (token) => {
      const request = IdentityServiceListRequest.fromPartial({ selector: { liveness: shown }, page: { token } });
      const { identities, page } = await tenure.session.call("IdentityService.List", request);
      return { items: identities, page };
    }),
  async get(tenure, { positionals: [id = ""] }) {
    const request = IdentityServiceGetRequest.fromPartial({ id });
    const { identity } = await tenure.session.call("IdentityService.Get", request);
    if (identity === undefined) throw new CommandFailure(exitCodes.notFound, `there is no identity ${id}`);
    return identity;
  },
  describe: (identity) => factLines(identityFacts(identity)),
  watch(tenure, { signal }) {
    const request = IdentityServiceWatchRequest.fromPartial({ selector: { liveness: shown } });
    return follow(
      tenure,
      async function* () {
        for await (const { events, position } of tenure.session.stream("IdentityService.Watch", request, { signal })) {
          yield { events: events.map(({ change, identity }) => ({ kind: kindOf(change), item: identity })), position };
        }
      },
      identityKind.name,
      signal,
    );
  },
};

function kindOf(change: IdentityChange): ChangeKind {
  if (gone.has(change)) return ChangeKind.REMOVED;
  return change === IdentityChange.PRESENT ? ChangeKind.PRESENT : ChangeKind.CHANGED;
}

function identityFacts(identity: Identity): readonly (readonly [string, string])[] {
  const { collision, profile } = identity;
  const dependents = (profile?.dependents ?? []).map(({ subject }) =>
    subject?.$case === "candidate"
      ? `${leaseText(subject.value.lease)}/${subject.value.name}`
      : leaseText(subject?.value),
  );
  return [
    ["Identity", identity.id],
    ["Component", profile?.component ?? ""],
    ["Version", profile?.version ?? ""],
    ["Liveness", word(IdentityLiveness, identity.liveness)],
    ["Last beat", durationText(identity.beatAge)],
    ["Host", profile?.host ?? ""],
    ["Process", profile?.processId === 0 ? "" : String(profile?.processId ?? "")],
    ["Zone", profile?.zone ?? ""],
    ["Capabilities", (profile?.capabilities ?? []).join(", ")],
    ["Addresses", (profile?.addresses ?? []).join(", ")],
    ["Labels", pairsText(profile?.labels)],
    ["Dependents", dependents.join(", ")],
    ["Beat interval", durationText(profile?.beatInterval)],
    ["Validity", durationText(profile?.validity)],
    ["Registered", instantText(identity.registeredAt)],
    ["Collision", collision === undefined ? "" : `with ${collision.otherHost} (process ${collision.otherProcessId})`],
    ["Principal", identity.principal],
    ["Revision", String(identity.revision)],
  ];
}
