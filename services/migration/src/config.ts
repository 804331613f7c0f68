import { defineConfig } from "@tenure/runtime";

/** What the migration service has beside the fields of every service. */
export const migrationFields = defineConfig({
  namespace: {
    kind: "string",
    default: "default",
    pattern: { expression: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, rule: "must be a DNS-1123 label" },
    doc: "The namespace of locks whose callers name none.",
  },
  participantDurationMs: {
    kind: "duration",
    default: "10s",
    min: "5s",
    max: "5m",
    doc: "How long a participant counts after its last report.",
  },
  watchers: {
    kind: "integer",
    default: 1_000,
    min: 1,
    max: 1_000_000,
    doc: "Watches that this replica serves at once.",
  },
});
