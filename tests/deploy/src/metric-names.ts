import { readdirSync } from "node:fs";
import { collectDefaultMetrics, Registry } from "prom-client";
import { readText, root, serviceNames } from "./repository.ts";

/** Series that Prometheus itself adds for every target. */
export const addedByPrometheus = ["up"];

/** Words of PromQL that look like a metric's name where an expression is read word by word. */
const wordsOfPromQl = new Set(["and", "by", "ignoring", "on", "or", "unless", "without", "label_values", "service"]);

/**
 * Names of the metrics that the services' own code registers, read from its sources: whatever is named in a file of
 * metrics. The SDK's are not among them: its metrics are the application's.
 */
function registeredInSources(): readonly string[] {
  return ["packages/runtime/src", ...serviceNames().map((service) => `services/${service}/src`)].flatMap((folder) =>
    readdirSync(`${root}${folder}`, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith("metrics.ts"))
      .flatMap((path) => [...readText(`${folder}/${path}`).matchAll(/"(tenure_[a-z0-9_]+)"/g)])
      .map(([, name = ""]) => name),
  );
}

/** Names of the metrics that every Node.js process of the product exposes. */
async function registeredByDefault(): Promise<readonly string[]> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return (await registry.getMetricsAsJSON()).map(({ name }) => name);
}

/** Every series that a dashboard or an alert may use; histograms and summaries with the series that they consist of. */
export async function existingSeries(): Promise<ReadonlySet<string>> {
  const names = [...registeredInSources(), ...(await registeredByDefault())];
  const parts = names.flatMap((name) => [name, `${name}_bucket`, `${name}_sum`, `${name}_count`]);
  return new Set([...parts, ...addedByPrometheus]);
}

/** The series that the text of a scrape announces, whether they have values yet or not. */
export function seriesOf(scrape: string): readonly string[] {
  return [...scrape.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = "", type]) =>
    type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
}

/** The series that a PromQL expression reads: the words left when labels, ranges, functions and texts are taken out. */
export function seriesIn(expression: string): readonly string[] {
  const bare = expression
    .replaceAll(/\{[^}]*\}/g, " ")
    .replaceAll(/\[[^\]]*\]/g, " ")
    .replaceAll(/\b(by|without|on|ignoring)\s*\([^)]*\)/g, " ")
    .replaceAll(/\b[a-z_]+\s*(?=\()/g, " ");
  return [...bare.matchAll(/\b[a-z_:][a-z0-9_:]*\b/g)].map(([word]) => word).filter((word) => !wordsOfPromQl.has(word));
}
