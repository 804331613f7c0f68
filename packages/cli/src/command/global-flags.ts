import { formats } from "../output/format.ts";
import type { Flag } from "./command.ts";

/** The flags that every command takes. */
export const globalFlags: readonly Flag[] = [
  { name: "context", value: "NAME", summary: "the context of the configuration file to use" },
  { name: "endpoint", value: "HOST:PORT", summary: "a gateway, or several with commas between" },
  {
    name: "namespace",
    value: "NAMESPACE",
    summary: "the namespace of leases named without one; lists show it alone, or all with ''",
  },
  { name: "timeout", value: "DURATION", summary: "how long to try to reach the service, and a call may take" },
  { name: "output", short: "o", value: "FORMAT", choices: formats, summary: `${formats.join(", ")}` },
  { name: "help", short: "h", summary: "this text" },
];
