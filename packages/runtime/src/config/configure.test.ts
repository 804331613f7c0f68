import { seededRandom } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { commonFields, instanceName } from "./common-fields.ts";
import { configure } from "./configure.ts";
import { defineConfig } from "./field.ts";
import { keysOf } from "./key.ts";

const fields = defineConfig({
  natsUrl: { kind: "list", default: ["nats://u:pass@a:4222"], doc: "Servers." },
  stopTimeoutMs: { kind: "duration", default: "90s", doc: "Bound." },
  password: { kind: "secret", doc: "Password." },
});

function ask(...argv: readonly string[]) {
  return configure({
    name: "tenure probe",
    summary: "shows.",
    version: "1.2.3",
    fields,
    argv,
    environment: { TENURE_PASSWORD: "hunter2" },
    readFile: () => "",
  });
}

describe("configure", () => {
  it("prints every value with its source and no secret", () => {
    expect(ask("--print-config")).toEqual({
      kind: "print",
      text: [
        "KEY           VALUE              SOURCE",
        "nats-url      nats://***@a:4222  default",
        "stop-timeout  1m30s              default",
        "password      (redacted)         TENURE_PASSWORD",
        "",
      ].join("\n"),
    });
  });

  it("prints the same as JSON", () => {
    const answer = ask("--print-config", "-o", "json");
    expect(answer.kind === "print" && JSON.parse(answer.text)).toEqual({
      "nats-url": { value: ["nats://***@a:4222"], source: "default", where: "default" },
      "stop-timeout": { value: "1m30s", source: "default", where: "default" },
      password: { value: "(redacted)", source: "environment", where: "TENURE_PASSWORD" },
    });
  });

  it("names every flag with its variable, default and meaning in the help", () => {
    const answer = ask("--help", "--wrong");
    const text = answer.kind === "print" ? answer.text : "";
    for (const { flag, environment, field } of keysOf(fields)) {
      expect(text).toContain(`  ${flag} `);
      expect(text).toContain(`[${environment}]`);
      expect(text).toContain(field.doc);
    }
    expect(text).toContain("Default: 90s.");
    expect(text).not.toContain("pass@");
  });

  it("prints the version", () => {
    expect(ask("--version")).toEqual({ kind: "print", text: "tenure probe 1.2.3\n" });
  });

  it("runs otherwise, and refuses what is wrong", () => {
    expect(ask("--stop-timeout=1s")).toMatchObject({ kind: "run", config: { values: { stopTimeoutMs: 1000 } } });
    expect(() => ask("--stop-timeout=1")).toThrow("--stop-timeout must be a duration");
  });
});

describe("instanceName", () => {
  it("is host, process and six digits, and keeps its own field's rule", () => {
    const name = instanceName({ hostname: "db.example.com", pid: 42, random: seededRandom(1) });
    expect(name).toMatch(/^db-example-com-42-[1-9A-HJ-NP-Za-km-z]{6}$/);
    expect(commonFields(name).instance.pattern.expression.test(name)).toBe(true);
  });
});
