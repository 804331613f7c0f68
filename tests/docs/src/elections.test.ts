import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { waitFor } from "@tenure/testkit";
import { expect, it } from "vitest";
import { ElectionScene } from "./election-scene.ts";
import { pages, samples } from "./pages.ts";

const page = pages().find(({ path }) => path === "docs/elections.md") ?? { path: "docs/elections.md", text: "" };

/** A line that is typed on the page, and what the page says comes of it. */
const typed = samples(page, "console").map(({ code }) => {
  const [first = "", ...output] = code.split("\n");
  return { line: first.replace(/^\$ /, ""), shown: output.join("\n") };
});

/** What differs from run to run, replaced by a word: tokens, times, spans, names of decisions, how life was shown. */
function steady(text: string): string {
  return text
    .replaceAll(/\b\d{13,}\b/g, "NUMBER")
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/g, "INSTANT")
    .replaceAll(/\b\d\d:\d\d:\d\d\b/g, "TIME")
    .replaceAll(/\b(\d+m)?\d+(\.\d+)?m?s\b/g, "SPAN")
    .replaceAll(/[█·]+▶?/g, "BAR")
    .replaceAll(/(?<=recorded decisions: ).*/g, "NAMES")
    .replaceAll(/\b(live-stream|ping)\b/g, "LIFE")
    .replaceAll(/ +/g, " ");
}

/** Runs what the page runs under a lease, under one of its own: on the page it would wait for the others to go. */
async function checkPrograms(scene: ElectionScene): Promise<void> {
  const program = join(scene.folder.path, "scheduler");
  writeFileSync(program, "#!/bin/sh\necho leading $TENURE_LEASE\n", { mode: 0o755 });
  const lines = samples(page, "sh").flatMap(({ code }) => code.trim().split("\n"));
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) {
    const seen = await scene.type(line.replace("billing/scheduler", "billing/program").replace(/ +#.*/, ""));
    expect(seen, line).toContain("leading billing/program\n");
  }
}

/** What happens on the page between two of its samples. */
const between: Readonly<Record<string, (scene: ElectionScene) => Promise<void>>> = {
  async explain(scene) {
    await scene.stand("node-1", "1.20.0");
    await scene.led("node-1");
    await scene.stand("node-2", "1.21.0");
  },
  history: (scene) => scene.led("node-2"),
};

it("docs/elections.md shows what its lines print, in their order, against real services", {
  timeout: 300_000,
}, async () => {
  const [document, ...others] = samples(page, "yaml");
  expect(others).toEqual([]);
  expect(typed.map(({ line }) => line.split(" ")[1])).toEqual(
    expect.arrayContaining(["apply", "explain", "dry-run", "history"]),
  );
  await using scene = await ElectionScene.open();
  await checkPrograms(scene);
  writeFileSync(join(scene.folder.path, "lease.yaml"), document?.code ?? "");
  for (const { line, shown } of typed) {
    await between[line.split(" ")[1] ?? ""]?.(scene);
    let seen = await scene.type(line);
    const isAsShown = () => steady(seen) === steady(shown);
    const lookAgain = async () => {
      if (!isAsShown()) seen = await scene.type(line);
      return isAsShown();
    };
    // A change is made once; what only looks may do so before the coordinator has. What was seen last is compared below.
    if (!line.includes("--yes")) await waitFor(lookAgain, { timeoutMs: 30_000 }).catch(() => undefined);
    expect(steady(seen), line).toBe(steady(shown));
  }
});
