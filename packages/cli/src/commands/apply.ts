import { LeaseServiceCreateRequest, LeaseServiceUpdateRequest } from "@tenure/contracts";
import type { Command, Invocation } from "../command/command.ts";
import { CommandFailure, exitCodes, usageFailure } from "../exit-code.ts";
import { findLease, leaseKind } from "../records/lease.ts";
import { type LeaseDocument, leaseDocumentOf, leaseKindWord } from "../records/lease-document.ts";
import { leaseText } from "../records/words.ts";
import { changeFlagsWith, makeChange, reasonOf } from "./change.ts";
import { type DocumentText, documentsOf, documentValue, fileFlag } from "./document-file.ts";
import { applyMigrations } from "./migrations.ts";

/** `apply -f`: documents of every kind. */
export const applyCommand: Command = {
  path: ["apply"],
  summary: "Put documents in force: settings of leases, and migrations",
  details: `The kinds are Lease and LeaderMigrationConfiguration. A lease's document has apiVersion tenure.dev/v1,
metadata.namespace, metadata.name and spec; docs/elections.md has every field of it, and the settings
apply from the next term on. Any other kind is read as a migration, of which docs/migration.md speaks.`,
  flags: [
    fileFlag,
    ...changeFlagsWith("why; kept in the history of what it updates, and refused for a lease that is new"),
  ],
  examples: [
    ["tenure apply -f leases.yaml --dry-run", "check everything and change nothing"],
    ["cat *.yaml | tenure apply -f - --yes", "several documents at once"],
  ],
  async run(invocation) {
    const documents = documentsOf(invocation);
    const isLease = (document: DocumentText) => kindOf(document) === leaseKindWord;
    // All are read before the first is applied: a typing error in the last must not leave half of them in force.
    const leases = documents
      .filter(isLease)
      .map((document) => leaseDocumentOf(document.source, documentValue(document)));
    const migrations = documents.filter((document) => !isLease(document));
    for (const lease of leases) {
      const code = await applyLease(invocation, lease);
      if (code !== exitCodes.ok) return code;
    }
    return migrations.length === 0 ? exitCodes.ok : await applyMigrations(invocation, migrations);
  },
};

function kindOf(document: DocumentText): unknown {
  const value = documentValue(document);
  return typeof value === "object" && value !== null && "kind" in value ? value.kind : undefined;
}

async function applyLease(invocation: Invocation, { fields, lease, spec }: LeaseDocument): Promise<number> {
  const tenure = await invocation.connect();
  const present = await findLease(tenure, lease);
  if (present === undefined && invocation.values.text("reason") !== undefined) {
    throw usageFailure(
      `--reason cannot be kept for ${leaseText(lease)}, whose history begins when it is created: leave it out`,
    );
  }
  return await makeChange(invocation, {
    kind: leaseKind,
    present,
    what: `${present === undefined ? "create" : "update"} ${leaseText(lease)} with ${fields.join(", ") || "the defaults"}`,
    async apply(dryRun) {
      const { lease: after } =
        present === undefined
          ? await tenure.session.change("LeaseService.Create", (attempt) =>
              LeaseServiceCreateRequest.fromPartial({ attempt, lease, spec, dryRun }),
            )
          : await tenure.session.change("LeaseService.Update", (attempt) =>
              LeaseServiceUpdateRequest.fromPartial({
                attempt,
                lease,
                spec,
                dryRun,
                expectedRevision: present.revision,
                updateMask: fields.map((field) => field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)),
                note: reasonOf(invocation),
              }),
            );
      if (after !== undefined) return after;
      throw new CommandFailure(exitCodes.error, "the service answered without the record");
    },
  });
}
