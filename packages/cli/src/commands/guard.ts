import { readFileSync } from "node:fs";
import {
  Fence,
  GuardedValue,
  GuardServiceDeleteRequest,
  GuardServiceGetRequest,
  GuardServiceListRequest,
  GuardServicePutRequest,
  ReadConsistency,
} from "@tenure/contracts";
import type { Command, Flag, Invocation } from "../command/command.ts";
import { wholeNumber } from "../command/values.ts";
import { exitCodes, usageFailure } from "../exit-code.ts";
import { isForPeople } from "../output/format.ts";
import type { Column } from "../output/table.ts";
import { wireJson } from "../output/wire-json.ts";
import { leaseNamed } from "../records/lease-name.ts";
import { pages } from "../records/pages.ts";
import { instantText } from "../records/words.ts";
import { showAll, showOne } from "./view-commands.ts";

const leaseFlag: Flag = {
  name: "lease",
  value: "NAME",
  summary: "the lease; TENURE_LEASE of tenure exec unless given",
};
const writeFlags: readonly Flag[] = [
  leaseFlag,
  { name: "token", value: "TOKEN", summary: "the term's token; TENURE_TOKEN of tenure exec unless given" },
  { name: "expect", value: "REVISION", summary: "only if the key has this revision; 0: only if it does not exist" },
];
const read = { consistency: ReadConsistency.LINEARIZABLE };

const columns: readonly Column<GuardedValue>[] = [
  { title: "KEY", text: ({ key }) => key },
  { title: "VALUE", text: ({ value }) => textOf(value).split("\n")[0]?.slice(0, 60) ?? "" },
  { title: "TOKEN", text: ({ token }) => String(token) },
  { title: "HOLDER", text: ({ holder }) => holder },
  { title: "WRITTEN", wide: true, text: ({ writtenAt }) => instantText(writtenAt) },
  { title: "REVISION", text: ({ revision }) => String(revision) },
];
const kind = {
  noun: "guarded values",
  columns,
  name: ({ key }: GuardedValue) => key,
  json: (value: GuardedValue) => wireJson(GuardedValue, value),
};

/** `guard get|list|put|delete`. */
export const guardCommands: readonly Command[] = [
  {
    path: ["guard", "get"],
    summary: "Print a guarded value",
    positionals: [{ name: "KEY" }],
    flags: [leaseFlag],
    examples: [["tenure guard get last-run --lease billing/scheduler", "the value alone; -o json has the rest"]],
    async run(invocation) {
      const tenure = await invocation.connect();
      const key = invocation.positionals[0] ?? "";
      const request = GuardServiceGetRequest.fromPartial({ lease: leaseOf(invocation), key, read });
      const { value } = await tenure.session.call("GuardService.Get", request);
      if (value === undefined) return exitCodes.notFound;
      if (isForPeople(invocation.format)) invocation.terminal.print(textOf(value.value));
      else showOne(kind, value, invocation);
      return exitCodes.ok;
    },
  },
  {
    path: ["guard", "list"],
    summary: "List the guarded values of a lease",
    positionals: [{ name: "PREFIX", optional: true }],
    flags: [leaseFlag],
    examples: [["tenure guard list --lease billing/scheduler", "keys, values, and the terms that wrote them"]],
    async run(invocation) {
      const tenure = await invocation.connect();
      const query = { lease: leaseOf(invocation), keyPrefix: invocation.positionals[0] ?? "", read };
      const items: GuardedValue[] = [];
      const all = pages(async (token) => {
        const request = GuardServiceListRequest.fromPartial({ ...query, page: { token } });
        const { page, values } = await tenure.session.call("GuardService.List", request);
        return { items: values, page };
      });
      for await (const item of all) items.push(item);
      showAll(kind, items, invocation);
      return exitCodes.ok;
    },
  },
  {
    path: ["guard", "put"],
    summary: "Write a guarded value as the holder; refused once a newer term was granted",
    positionals: [{ name: "KEY" }, { name: "VALUE" }],
    flags: writeFlags,
    examples: [
      ["tenure exec scheduler -- sh -c 'tenure guard put last-run \"$(date)\"'", "inside exec nothing else is needed"],
      ["tenure guard put state - < state.json", "the value from standard input"],
    ],
    async run(invocation) {
      const [key = "", text = ""] = invocation.positionals;
      const value = text === "-" ? new Uint8Array(readFileSync(0)) : new TextEncoder().encode(text);
      const fence = fenceOf(invocation);
      const expectedRevision = invocation.values.bigint("expect");
      const tenure = await invocation.connect();
      const { revision } = await tenure.session.change("GuardService.Put", (attempt) =>
        GuardServicePutRequest.fromPartial({ attempt, fence, key, value, expectedRevision }),
      );
      invocation.terminal.note(`wrote ${key} at revision ${revision}`);
      return exitCodes.ok;
    },
  },
  {
    path: ["guard", "delete"],
    summary: "Delete a guarded value as the holder",
    positionals: [{ name: "KEY" }],
    flags: writeFlags,
    examples: [["tenure guard delete last-run", "within tenure exec; a key that does not exist is no error"]],
    async run(invocation) {
      const [key = ""] = invocation.positionals;
      const fence = fenceOf(invocation);
      const expectedRevision = invocation.values.bigint("expect");
      const tenure = await invocation.connect();
      const { deleted } = await tenure.session.change("GuardService.Delete", (attempt) =>
        GuardServiceDeleteRequest.fromPartial({ attempt, fence, key, expectedRevision }),
      );
      invocation.terminal.note(deleted ? `deleted ${key}` : `there was no ${key}`);
      return exitCodes.ok;
    },
  },
];

function leaseOf(invocation: Invocation) {
  const name = invocation.values.text("lease") ?? invocation.environment.TENURE_LEASE ?? "";
  if (name === "") throw usageFailure("--lease must be given outside of tenure exec");
  return leaseNamed(name, invocation);
}

/** The right to write: that of the term that this process runs under, unless another is named. */
function fenceOf(invocation: Invocation): Fence {
  const { environment, values } = invocation;
  const token = values.bigint("token") ?? wholeNumber(environment.TENURE_TOKEN || "0", "TENURE_TOKEN");
  if (token === 0n) throw usageFailure("--token must be given outside of tenure exec");
  const renewKey = new Uint8Array(Buffer.from(environment.TENURE_RENEW_KEY ?? "", "hex"));
  return Fence.fromPartial({ lease: leaseOf(invocation), token, renewKey });
}

function textOf(value: Uint8Array): string {
  return new TextDecoder().decode(value);
}
