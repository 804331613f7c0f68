import { profiles } from "../profile.ts";
import { edited, type Mutation, within } from "./mutation.ts";

/** Bugs in who may hold a migration lock. */
export const migrationMutations: readonly Mutation[] = [
  edited("gives a migration lock to whoever asks", ["rule 24"], {
    module: "core",
    file: "decide/clearance.js",
    find: "checkEligible(record, wish.participant) ??",
    replace: "",
  }),
  edited("ignores the versions that may hold a migration lock", ["rule 24"], {
    module: "core",
    file: "decide/eligible.js",
    find: " && isWithin(version, versionRange)",
    replace: "",
  }),
  edited("ignores another migration configuration", ["rule 24"], {
    module: "core",
    file: "decide/eligible.js",
    find: "if (configurationDigest !== eligibility.configurationDigest) {",
    replace: "if (false) {",
  }),
  edited("forgets who may hold a migration lock when it is deleted", ["rule 24"], {
    module: "core",
    file: "apply/lease.js",
    find: "record.uid = 0;",
    replace: "record.uid = 0; record.eligibility = undefined;",
  }),
  edited("lets a candidate accept that may not hold the migration lock", ["rule 24"], {
    module: "core",
    file: "decide/accept.js",
    find: "checkEligible(record, participant) ??",
    replace: "",
  }),
  edited("changes the controllers of a migration lock that is held", ["immutable"], {
    module: "core",
    file: "decide/migration.js",
    find: "command.isUnlessHeld !== true || holder === undefined",
    replace: "true",
  }),
  edited("refuses a component that may hold the migration lock", ["I26"], {
    module: "core",
    file: "decide/eligible.js",
    find: "return isListed ? undefined : refusal;",
    replace: "return refusal;",
  }),
].map((mutation) => within(profiles.migrations, mutation));
