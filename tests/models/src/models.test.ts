import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";

/** One line of `models/run.mjs --json`. */
interface CheckedCase {
  readonly kind: "protocol" | "planted" | "reached";
  readonly model: string;
  readonly name: string;
  readonly expected: string;
  readonly found: string;
  readonly states: number;
  readonly output?: string;
}

interface Ended {
  readonly status: number | null;
  readonly output: string;
}

const script = fileURLToPath(new URL("../../../models/run.mjs", import.meta.url));
const missing = ["spin", "gcc"].filter((tool) => spawnSync(tool, ["--version"]).error !== undefined);

/** The quick configuration is a minute of processor time; a busy machine may take several times as long. */
const quickLimitMs = 600_000;

function runModels(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...args], {
      env: environment,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, output }));
  });
}

/** Compared as text, so that a failure names every case that came out otherwise and what spin said about it. */
function verdicts(cases: readonly CheckedCase[], verdictOf: (checked: CheckedCase) => string): string[] {
  return cases.map((checked) => `${checked.model}: ${checked.name}: ${verdictOf(checked)}`);
}

function found(checked: CheckedCase): string {
  return checked.found === checked.expected ? checked.found : `${checked.found}\n${checked.output ?? ""}`;
}

describe("the models of the protocol", () => {
  it("are reported as not checked, with the command that installs what is missing, where there is no spin", async () => {
    const { status, output } = await runModels([], { ...process.env, PATH: "" });
    expect(output.trim()).toBe(
      "the models were not checked: not installed: spin, gcc; install with: apt-get install -y spin gcc",
    );
    expect(status).toBe(2);
  });

  if (missing.length > 0) {
    it(`are not checked on this machine, which lacks ${missing.join(" and ")}: the run says how to install it`, async () => {
      const { status, output } = await runModels([], process.env);
      expect(output).toContain(`install with: apt-get install -y ${missing.join(" ")}`);
      expect(status).toBe(2);
    });
  } else {
    describe("checked by spin", () => {
      let status: number | null;
      let cases: readonly CheckedCase[];
      const ofKind = (kind: CheckedCase["kind"]) => cases.filter((checked) => checked.kind === kind);

      beforeAll(async () => {
        const ended = await runModels(["--json"], process.env);
        status = ended.status;
        cases = JSON.parse(ended.output);
      }, quickLimitMs);

      it("hold: no reachable state breaks a rule", () => {
        const protocol = ofKind("protocol");
        expect(verdicts(protocol, found)).toEqual(verdicts(protocol, () => "holds"));
        expect(protocol.map((checked) => checked.model)).toEqual(expect.arrayContaining(["owner-log", "term-timing"]));
      });

      it("fail on every planted bug, with the assertion that stands for the broken rule", () => {
        const planted = ofKind("planted");
        expect(verdicts(planted, found)).toEqual(verdicts(planted, (checked) => checked.expected));
        expect(planted.length).toBeGreaterThanOrEqual(30);
      });

      it("reach the situations that they are about", () => {
        const reached = ofKind("reached");
        expect(verdicts(reached, found)).toEqual(verdicts(reached, () => "never_reached"));
        expect(reached.length).toBeGreaterThanOrEqual(10);
      });

      it("end with status 0 only because every case came out as expected", () => {
        expect(status).toBe(0);
      });
    });
  }
});
