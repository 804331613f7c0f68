#!/usr/bin/env node
import { runService } from "@tenure/runtime";

await runService({
  name: "identity",
  summary: "Knows who is alive: registrations, heartbeats and the collection of what is dead.",
  fields: {},
  start: async () => undefined,
});
