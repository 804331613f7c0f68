#!/usr/bin/env node
import { runService } from "@tenure/runtime";

await runService({
  name: "migration",
  summary: "Arbitrates migration locks: which component may run a controller.",
  fields: {},
  start: async () => undefined,
});
