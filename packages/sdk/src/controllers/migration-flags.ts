import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import {
  defaultMigrationConfiguration,
  findingText,
  type MigrationConfiguration,
  parseMigrationDocument,
} from "@tenure/migration-rules";
import { TenureError } from "../errors.ts";

/** What may be said about the flags. */
export interface MigrationFlagsOptions {
  /** What migration means without a file; the proposal's cloud provider extraction unless given. */
  readonly defaults?: MigrationConfiguration | undefined;
  /** Controllers that exist; a file that names another is invalid. Not checked unless given. */
  readonly knownControllers?: readonly string[] | undefined;
  /** Former names of controllers, each with its canonical name. */
  readonly aliases?: Readonly<Record<string, string>> | undefined;
  /** How a file is read; from the file system unless given. */
  readonly readFile?: ((path: string) => string) | undefined;
}

/**
 * Reads `--enable-leader-migration` and `--leader-migration-config` among whatever else a command line has: undefined
 * when migration is off, the default configuration when it is on without a file, and only the file's otherwise. The file
 * may be given several times, one per migration lock. A file without enabling, and one that cannot be read or breaks a
 * rule, are errors that a component must not start with (statements 110 and 111).
 */
export function migrationFlags(
  argv: readonly string[],
  options: MigrationFlagsOptions = {},
): readonly MigrationConfiguration[] | undefined {
  const { tokens } = parseArgs({
    args: [...argv],
    options: { [enableFlag]: { type: "boolean" }, [fileFlag]: { type: "string", multiple: true } },
    strict: false,
    tokens: true,
    allowPositionals: true,
  });
  const given = (flag: string) => tokens.flatMap((one) => (one.kind === "option" && one.name === flag ? [one] : []));
  const isEnabled = enabled(given(enableFlag).at(-1));
  const files = given(fileFlag)
    .map(pathOf)
    .filter((path) => path !== "");
  if (!isEnabled) {
    if (files.length === 0) return undefined;
    const rule = `--${fileFlag} needs --${enableFlag}: enable migration, or leave the file out`;
    throw fatal("MIGRATION_NOT_ENABLED", `${rule} (got ${files.join(", ")})`);
  }
  if (files.length === 0) return [options.defaults ?? defaultMigrationConfiguration];
  return files.map((path) => read(path, options));
}

const enableFlag = "enable-leader-migration";
const fileFlag = "leader-migration-config";

function enabled(flag: { readonly value?: string | undefined } | undefined): boolean {
  const text = flag === undefined ? "false" : (flag.value ?? "true");
  if (text === "true" || text === "false") return text === "true";
  throw fatal("OPTION_INVALID", `--${enableFlag} must be true or false (got ${text})`);
}

/** The path of a file; empty, as `--leader-migration-config=` is, names none. */
function pathOf({
  inlineValue,
  value,
}: {
  readonly inlineValue?: boolean | undefined;
  readonly value?: string | undefined;
}): string {
  if (value !== undefined && (inlineValue === true || !value.startsWith("-"))) return value;
  throw fatal("OPTION_INVALID", `--${fileFlag} must name a file (got ${value ?? "nothing"})`);
}

function read(path: string, options: MigrationFlagsOptions): MigrationConfiguration {
  const { aliases, knownControllers, readFile = (name: string) => readFileSync(name, "utf8") } = options;
  let text: string;
  try {
    text = readFile(path);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw fatal("MIGRATION_FILE_UNREADABLE", `the file of --${fileFlag} cannot be read: ${why}`, { cause });
  }
  const { configuration, findings } = parseMigrationDocument(text, { aliases, knownControllers });
  if (configuration !== undefined) return configuration;
  const errors = findings.filter(({ isWarning }) => !isWarning);
  const message = `${path} is no valid migration configuration: ${errors.map(findingText).join("; ")}`;
  const violations = errors.map(({ field, rule, value }) => ({ field, rule, value }));
  throw fatal("DOCUMENT_INVALID", message, { details: { violations } });
}

function fatal(
  reason: "DOCUMENT_INVALID" | "MIGRATION_FILE_UNREADABLE" | "MIGRATION_NOT_ENABLED" | "OPTION_INVALID",
  message: string,
  more: Pick<ConstructorParameters<typeof TenureError>[0], "cause" | "details"> = {},
): TenureError {
  return new TenureError({ code: "INVALID_ARGUMENT", reason, message, retryable: false, ...more });
}
