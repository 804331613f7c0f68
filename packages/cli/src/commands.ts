import type { Command } from "./command/command.ts";
import { applyCommand } from "./commands/apply.ts";
import { candidateChanges } from "./commands/candidate-changes.ts";
import { completionCommand } from "./commands/completion.ts";
import { contextCommands } from "./commands/context.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { execCommand } from "./commands/exec.ts";
import { dryRunCommand, explainCommand } from "./commands/explain.ts";
import { guardCommands } from "./commands/guard.ts";
import { historyCommand } from "./commands/history.ts";
import { identitiesGcCommand } from "./commands/identities-gc.ts";
import { leaderCommand } from "./commands/leader.ts";
import { leaseChanges } from "./commands/lease-changes.ts";
import { lockCommand } from "./commands/lock.ts";
import { migrationCommands } from "./commands/migrations.ts";
import { statusCommand } from "./commands/status.ts";
import { strategyCommands } from "./commands/strategy.ts";
import { timingsCommand } from "./commands/timings.ts";
import { viewCommands } from "./commands/view-commands.ts";
import { candidateKind } from "./records/candidate.ts";
import { electionKind } from "./records/election.ts";
import { identityKind } from "./records/identity.ts";
import { leaseKind } from "./records/lease.ts";
import { migrationKind } from "./records/migration.ts";

/** All but what is made of all. */
const own: readonly Command[] = [
  statusCommand,
  leaderCommand,
  historyCommand,
  explainCommand,
  dryRunCommand,
  ...viewCommands(leaseKind),
  ...viewCommands(electionKind),
  ...viewCommands(candidateKind),
  ...viewCommands(identityKind),
  ...viewCommands(migrationKind),
  doctorCommand,
  timingsCommand,
  ...strategyCommands,
  ...candidateChanges,
  ...leaseChanges,
  identitiesGcCommand,
  ...migrationCommands,
  applyCommand,
  execCommand,
  lockCommand,
  ...guardCommands,
  ...contextCommands,
];

/** Every command, in the order in which help shows them: see, change, run. */
export const commands: readonly Command[] = [...own, completionCommand(own)];
