#!/usr/bin/env node
import { runService } from "@tenure/runtime";
import { checkConfig, identityFields } from "./config.ts";
import { startIdentityService } from "./identity-service.ts";

await runService({
  name: "identity",
  summary: "Knows who is alive: registrations, heartbeats and the collection of what is dead.",
  fields: identityFields,
  check: checkConfig,
  start: startIdentityService,
});
