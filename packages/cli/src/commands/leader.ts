import type { Observation } from "@tenure/sdk";
import type { Command, Invocation } from "../command/command.ts";
import { exitCodes } from "../exit-code.ts";
import { formatValue, isForPeople } from "../output/format.ts";
import { firstLease } from "../records/lease-name.ts";

/** `leader NAME`: who leads, as one word for scripts. */
export const leaderCommand: Command = {
  path: ["leader"],
  summary: "Say who leads",
  details: "Prints the leader's identity, or ends with 3 when nobody leads.",
  positionals: [{ name: "NAME" }],
  flags: [{ name: "watch", short: "w", summary: "then follow every change until stopped" }],
  examples: [
    ["tenure leader billing/scheduler", "one word: the leader's identity"],
    ["tenure leader billing/scheduler -w -o jsonl", "every change of leader, for programs"],
  ],
  async run(invocation) {
    const { signal, values } = invocation;
    const tenure = await invocation.connect();
    const lease = firstLease(invocation);
    let code: number = exitCodes.notFound;
    for await (const seen of tenure.observe(lease, { signal })) {
      show(seen, invocation);
      code = seen.kind === "leader" ? exitCodes.ok : exitCodes.notFound;
      if (!values.has("watch")) return code;
    }
    return exitCodes.ok;
  },
};

function show(seen: Observation, { format, terminal, values }: Invocation): void {
  const isLed = seen.kind === "leader";
  const { name, namespace } = seen.lease;
  if (!isForPeople(format) && format !== "name") {
    const successor = isLed ? seen.successor : undefined;
    const value = isLed
      ? {
          lease: `${namespace}/${name}`,
          leader: seen.holder,
          token: String(seen.token),
          ...(successor && { successor }),
        }
      : { lease: `${namespace}/${name}`, leader: null, lastToken: String(seen.lastToken), why: seen.why ?? null };
    terminal.print(formatValue(value, values.has("watch") ? "jsonl" : format));
    return;
  }
  if (isLed) terminal.print(format === "wide" ? `${seen.holder}   token ${seen.token}` : seen.holder);
  else if (values.has("watch")) terminal.print("-");
  else terminal.note(`nobody leads ${namespace}/${name}`);
}
