import { Fault } from "@tenure/kernel";
import { describe, expect, expectTypeOf, it } from "vitest";
import { defineConfig } from "./field.ts";
import { loadConfig } from "./load.ts";
import { configInvalid } from "./problem.ts";

const fields = defineConfig({
  natsUrl: { kind: "list", default: ["nats://127.0.0.1:4222"], doc: "Servers." },
  stopTimeoutMs: { kind: "duration", default: "10s", min: "1s", doc: "Bound of a stop." },
  httpPort: { kind: "integer", default: 8369, min: 0, max: 65_535, doc: "Port." },
  format: { kind: "choice", choices: ["json", "pretty"], default: "json", doc: "Format." },
  verbose: { kind: "boolean", default: false, doc: "More lines." },
  keyFile: { kind: "path", doc: "Key." },
  password: { kind: "secret", doc: "Password." },
});

interface Sources {
  readonly argv?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
}

function load({ argv = [], environment = {}, files = {} }: Sources) {
  return loadConfig({
    fields,
    argv,
    environment,
    readFile(path) {
      const text = files[path];
      if (text === undefined) throw Object.assign(new Error("missing"), { code: "ENOENT" });
      return text;
    },
  });
}

function problemsOf(sources: Sources): readonly string[] {
  try {
    load(sources);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(Fault);
    if (thrown instanceof Fault) {
      expect(thrown.reason).toBe(configInvalid);
      return thrown.message.split("\n");
    }
  }
  return [];
}

describe("loadConfig", () => {
  it("gives the defaults, typed, when no source says anything", () => {
    const { values } = load({});
    expect(values).toEqual({
      natsUrl: ["nats://127.0.0.1:4222"],
      stopTimeoutMs: 10_000,
      httpPort: 8369,
      format: "json",
      verbose: false,
      keyFile: undefined,
      password: undefined,
    });
    expectTypeOf(values.format).toEqualTypeOf<"json" | "pretty">();
    expectTypeOf(values.stopTimeoutMs).toEqualTypeOf<number>();
    expectTypeOf(values.keyFile).toEqualTypeOf<string | undefined>();
    expectTypeOf(values.natsUrl).toEqualTypeOf<readonly string[]>();
  });

  it("lets a flag win over the environment, that over the file, and that over the default", () => {
    const files = { "t.yaml": "http-port: 1\nformat: pretty\nstop-timeout: 3s\n" };
    const environment = { TENURE_CONFIG: "t.yaml", TENURE_HTTP_PORT: "2", TENURE_FORMAT: "json" };
    const { values, settings } = load({ argv: ["--http-port", "3"], environment, files });
    expect(values).toMatchObject({ httpPort: 3, format: "json", stopTimeoutMs: 3000, verbose: false });
    const sources = Object.fromEntries(settings.map(({ key, source, where }) => [key, `${source} ${where}`]));
    expect(sources).toMatchObject({
      "http-port": "flag --http-port",
      format: "environment TENURE_FORMAT",
      "stop-timeout": "file t.yaml:3: stop-timeout",
      verbose: "default default",
      "key-file": "unset not set",
    });
  });

  it("takes the file of --config over the file of TENURE_CONFIG", () => {
    const files = { a: '{"http-port": 1}', b: '{"http-port": 2}' };
    expect(load({ argv: ["--config=a"], environment: { TENURE_CONFIG: "b" }, files }).values.httpPort).toBe(1);
  });

  it("reads a secret from its own key or from the file that its -file key names", () => {
    expect(load({ environment: { TENURE_PASSWORD: "p" } }).values.password).toBe("p");
    expect(load({ argv: ["--password-file", "s"], files: { s: "q r\n" } }).values.password).toBe("q r");
    expect(
      load({ argv: ["--password-file", "s"], environment: { TENURE_PASSWORD: "p" }, files: { s: "q" } }).values
        .password,
    ).toBe("q");
  });

  it("refuses a secret that comes directly and by file from one source", () => {
    const environment = { TENURE_PASSWORD: "p", TENURE_PASSWORD_FILE: "s" };
    expect(problemsOf({ environment, files: { s: "q" } })).toEqual([
      "TENURE_PASSWORD and TENURE_PASSWORD_FILE exclude each other: give one",
    ]);
  });

  it("reports every problem of every source at once, each with its place, rule and value", () => {
    const problems = problemsOf({
      argv: ["--stop-timeout", "10", "--htpt-port=1", "--verbose=maybe", "--config", "t.yaml"],
      environment: { TENURE_HTTP_PROT: "1", TENURE_HTTP_PORT: "70000" },
      files: { "t.yaml": "format: xml\nnats_url: nats://a\n" },
    });
    expect(problems).toEqual([
      "--htpt-port is not a known flag: did you mean --http-port?",
      "TENURE_HTTP_PROT is not a known environment variable: did you mean TENURE_HTTP_PORT?",
      "t.yaml:2: nats_url is not a known key: did you mean nats-url?",
      '--stop-timeout must be a duration such as 250ms, 10s, 1m30s or 1h (got "10")',
      'TENURE_HTTP_PORT must be a whole number from 0 to 65535 (got "70000")',
      't.yaml:1: format must be one of json, pretty (got "xml")',
      '--verbose must be true or false (got "maybe")',
    ]);
  });

  it("never repeats a secret in a problem", () => {
    const fault = problemsOf({ argv: ["--password="], files: {} });
    expect(fault).toEqual(["--password must be text that is not empty"]);
    expect(problemsOf({ argv: ["--pasword=hunter2"] }).join()).not.toContain("hunter2");
    expect(problemsOf({ argv: ["--http-port", "nats://u:hunter2@h"] }).join()).not.toContain("hunter2");
  });

  it("says which required value is missing and where it can be given", () => {
    const required = defineConfig({ dir: { kind: "path", required: true, doc: "Folder." } });
    const load = () => loadConfig({ fields: required, argv: [], environment: {}, readFile: () => "" });
    expect(load).toThrow("--dir is required: give it, TENURE_DIR or dir in the file");
  });

  it("tolerates the variables of other parts of the product", () => {
    const environment = {
      TENURE_CACHE_DIR: "/c",
      TENURE_NATS_SERVER: "/n",
      TENURE_LONG: "1",
      TENURE_LOG_LEVEL: "debug",
      TENURE_NATS_NKEY_FILE: "/k",
    };
    expect(problemsOf({ environment })).toEqual([]);
  });

  it("explains a configuration file that cannot be read", () => {
    expect(problemsOf({ argv: ["--config", "gone.yaml"] })).toEqual([
      "configuration file gone.yaml cannot be read: no such file",
    ]);
    expect(problemsOf({ argv: ["--password-file", "gone"] })).toEqual([
      '--password-file cannot be read: no such file (got "gone")',
    ]);
  });

  it("holds a duration to its bounds", () => {
    expect(problemsOf({ argv: ["--stop-timeout", "10ms"] })).toEqual([
      '--stop-timeout must be at least 1s (got "10ms")',
    ]);
  });
});
