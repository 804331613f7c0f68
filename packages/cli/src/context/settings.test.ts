import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Values } from "../command/values.ts";
import { resolveSettings } from "./settings.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tenure-settings-"));
  const context = "  prod:\n    endpoints: [gw-1:1]\n    namespace: of-context\n";
  writeFileSync(join(folder, "config.yaml"), `current: prod\ncontexts:\n${context}`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The namespaces that a flag, the environment and a context settle on. */
function namespacesOf(flag: string | undefined, variable: string | undefined, file: string) {
  const environment = { TENURE_NAMESPACE: variable, TENURE_CONFIG: join(folder, file) };
  const { listedNamespace, namespace } = resolveSettings(new Values({ namespace: flag }), environment);
  return { namespace, listedNamespace };
}

describe("the namespace", () => {
  it.each([
    [undefined, undefined, "none.yaml", "default", ""],
    [undefined, undefined, "config.yaml", "of-context", "of-context"],
    [undefined, "", "config.yaml", "of-context", "of-context"],
    [undefined, "of-environment", "config.yaml", "of-environment", "of-environment"],
    ["of-flag", "of-environment", "config.yaml", "of-flag", "of-flag"],
  ])("with flag %s, variable %s and %s is %s, and lists show %j", (flag, variable, file, namespace, listed) => {
    expect(namespacesOf(flag, variable, file)).toEqual({ namespace, listedNamespace: listed });
  });

  it("an empty flag shows all in lists, whatever the environment and the context say", () => {
    expect(namespacesOf("", "of-environment", "config.yaml").listedNamespace).toBe("");
  });
});
