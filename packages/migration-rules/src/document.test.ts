import { describe, expect, it } from "vitest";
import { parseMigrationDocument } from "./document.ts";
import { findingText } from "./finding.ts";

const head = "apiVersion: controllermanager.config.k8s.io/v1\nkind: LeaderMigrationConfiguration\nleaderName: m\n";

describe("a document", () => {
  it("[113] may say resourceLock: leases in every version, unless Kubernetes' own rule is asked for", () => {
    const text = `${head}resourceLock: leases\ncontrollerLeaders: [{name: a, component: b}]\n`;
    expect(parseMigrationDocument(text).findings).toEqual([]);
    const strict = parseMigrationDocument(text, { isResourceLockOlder: true });
    expect(strict.configuration).toBeUndefined();
    expect(strict.findings.map(({ field, line }) => [line, field])).toEqual([[4, "resourceLock"]]);
    const older = parseMigrationDocument(text.replace("/v1\n", "/v1beta1\n"), { isResourceLockOlder: true });
    expect(older.findings).toEqual([]);
  });

  it("is shown by findings with line, field, rule and what was written", () => {
    const { findings } = parseMigrationDocument(
      `${head}controllerLeaders:\n  - name: "*"\n    component: ${"x".repeat(300)}\n`,
    );
    expect(findings.map(findingText)).toEqual([
      'line 5: controllerLeaders[0].name: must name one controller: * is for components (is "*")',
      `line 6: controllerLeaders[0].component: must be * alone or the name of one component, of 1 to 253 bytes of [-._a-zA-Z0-9] (is "${"x".repeat(79)}…)`,
    ]);
  });

  it("is read once: an anchor cannot make it large", () => {
    const bomb = `a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\n${head}`;
    expect(parseMigrationDocument(bomb).findings.map(({ field }) => field)).toEqual(["a", "b", "c"]);
  });
});
