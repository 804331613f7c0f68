import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type DocumentOptions, parseMigrationDocument } from "./document.ts";
import { findingsInContext } from "./document-context.ts";

/** What a document of the corpus is checked against, and what comes of it. */
interface Expected {
  readonly options?: DocumentOptions;
  readonly inForce?: readonly { readonly document: string; readonly isHeld: boolean }[];
  readonly primaries?: readonly string[];
  /** Absent for a document that is refused. Each controller as name, component and version range. */
  readonly configuration?: { readonly name: string; readonly controllers: readonly string[] };
  readonly findings: readonly object[];
}

const corpus = fileURLToPath(new URL("../corpus", import.meta.url));
const read = (file: string) => readFileSync(`${corpus}/${file}`, "utf8");
const expectations = JSON.parse(read("expected.json")) as Readonly<Record<string, Expected>>;
const files = ["good", "bad"].flatMap((folder) =>
  readdirSync(`${corpus}/${folder}`).map((file) => `${folder}/${file}`),
);

describe("the corpus of documents", () => {
  it("has sixty files and more, each with its expected result", () => {
    expect(files.length).toBeGreaterThanOrEqual(60);
    expect(Object.keys(expectations).sort()).toEqual([...files].sort());
  });

  it.each(files)("[112] [113] [114] %s", (file) => {
    const { configuration, findings, inForce = [], options, primaries = [] } = expectations[file] as Expected;
    const parsed = parseMigrationDocument(read(file), options);
    const found = findingsInContext(parsed, {
      namespace: "kube-system",
      inForce: inForce.map(({ document, isHeld }) => {
        const other = parseMigrationDocument(read(document)).configuration;
        if (other === undefined) throw new Error(`${document} cannot be in force`);
        return { configuration: other, isHeld };
      }),
      primaries,
    });
    const shown = found.map(({ field, isWarning, line, rule }) => ({
      line,
      field,
      rule,
      ...(isWarning && { isWarning }),
    }));
    expect(shown).toEqual(findings);
    const isGood = found.every(({ isWarning }) => isWarning);
    expect(isGood).toBe(file.startsWith("good/"));
    if (!isGood) return;
    const controllers = parsed.configuration?.controllerLeaders.map(({ component, name, versionRange }) =>
      `${name} ${component} ${versionRange}`.trim(),
    );
    expect({ name: parsed.configuration?.name, controllers }).toEqual(configuration);
  });
});
