#!/usr/bin/env node
import { runService } from "@tenure/runtime";
import { electionFields } from "./config.ts";
import { startElectionService } from "./election-service.ts";

await runService({
  name: "election",
  summary: "Coordinates elections: asks the candidates and elects the best that answers.",
  fields: electionFields,
  start: startElectionService,
});
