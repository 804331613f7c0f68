import { once } from "node:events";

/** What a process of the fleet tells its test: one line of JSON each. */
export type Report = { readonly kind: "ready" } | { readonly kind: "result"; readonly result: unknown };

/** Tells the test. */
export function report(line: Report): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

const arrived = new Map<string, number>();
for (const name of ["SIGUSR2"] as const) {
  process.on(name, () => arrived.set(name, (arrived.get(name) ?? 0) + 1));
}

/** Resolves when the test gives its signal; one that came before counts. */
export async function waitForSignal(name: "SIGUSR2"): Promise<void> {
  if ((arrived.get(name) ?? 0) === 0) await once(process, name);
  arrived.set(name, (arrived.get(name) ?? 1) - 1);
}
