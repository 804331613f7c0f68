#!/usr/bin/env node
import { runService } from "@tenure/runtime";

await runService({
  name: "election",
  summary: "Coordinates elections: asks the candidates and elects the best that answers.",
  fields: {},
  start: async () => undefined,
});
