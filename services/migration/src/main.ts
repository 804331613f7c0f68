#!/usr/bin/env node
import { runService } from "@tenure/runtime";
import { migrationFields } from "./config.ts";
import { startMigrationService } from "./migration-service.ts";

await runService({
  name: "migration",
  summary: "Arbitrates migration locks: which component may run a controller.",
  fields: migrationFields,
  start: startMigrationService,
});
