#!/usr/bin/env node
import { processHost } from "@tenure/runtime";
import { runProvision } from "./command-line.ts";

// It may be the first process of a container, to which signals mean nothing unless it says so.
for (const [signal, code] of [
  ["SIGTERM", 143],
  ["SIGINT", 130],
] as const)
  process.once(signal, () => process.exit(code));

// Ends here whatever is still open: a server that never answers would otherwise keep the process.
process.exit(await runProvision(processHost()));
