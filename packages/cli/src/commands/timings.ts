import { describeTiming } from "@tenure/sdk";
import type { Command } from "../command/command.ts";
import { exitCodes } from "../exit-code.ts";
import { formatValue, isForPeople } from "../output/format.ts";

const durations = [
  ["lease-duration", "leaseDuration", "L: another may lead this long after the last renewal (default 15s)"],
  ["usable-term", "usableTerm", "H: how long the holder may act after its last proven renewal"],
  ["renew-interval", "renewInterval", "R: time between two renewals"],
  ["request-timeout", "requestTimeout", "T: a renewal without an answer for this long has failed"],
  ["drain", "drain", "how long before the deadline the work is asked to finish when renewals fail"],
  ["stop-timeout", "stopTimeout", "how long the work may take to finish when it is asked to"],
  ["lock-delay", "lockDelay", "how long the lease stays free after an expiry"],
] as const;

/** `timings explain`: what durations tolerate. */
export const timingsCommand: Command = {
  path: ["timings", "explain"],
  summary: "Say what durations tolerate: outages, pauses, clock errors; needs no service",
  details: "Ends with 2 and the rule when the durations could let two processes act at once.",
  flags: durations.map(([name, , summary]) => ({ name, value: "DURATION", summary })),
  examples: [
    ["tenure timings explain", "the defaults"],
    ["tenure timings explain --lease-duration 6s", "what a faster fail-over costs"],
  ],
  async run({ format, terminal, values }) {
    const given = durations.map(([flag, option]) => [option, values.durationMs(flag)] as const);
    const report = describeTiming(Object.fromEntries(given.filter(([, ms]) => ms !== undefined)));
    const { text, ...numbers } = report;
    terminal.print(isForPeople(format) ? text : formatValue(numbers, format === "name" ? "json" : format));
    return exitCodes.ok;
  },
};
