import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readCompose } from "./compose-file.ts";
import { existingSeries, seriesIn } from "./metric-names.ts";
import { dashboard, graphs, rules } from "./observability.ts";
import { readText, serviceNames } from "./repository.ts";

const datasources = parse(readText("deploy/grafana/provisioning/datasources/prometheus.yaml")) as {
  readonly datasources: readonly { readonly uid: string; readonly url: string }[];
};
const providers = parse(readText("deploy/grafana/provisioning/dashboards/tenure.yaml")) as {
  readonly providers: readonly { readonly options: { readonly path: string } }[];
};
const prometheus = parse(readText("deploy/prometheus/prometheus.yaml")) as {
  readonly rule_files: readonly string[];
  readonly scrape_configs: readonly {
    readonly job_name: string;
    readonly dns_sd_configs?: readonly { readonly names: readonly string[]; readonly port: number }[];
  }[];
};
const runbook = /^## Alerts\n(.*?)(?=^## )/ms.exec(readText("docs/operations.md"))?.[1] ?? "";

describe("dashboard", () => {
  it("uses only series that the services expose", async () => {
    const existing = await existingSeries();
    for (const { title, targets = [] } of graphs) {
      expect(targets.length, title).toBeGreaterThan(0);
      for (const { expr } of targets) {
        expect(seriesIn(expr).length, expr).toBeGreaterThan(0);
        for (const series of seriesIn(expr)) expect([...existing], `${title}: ${expr}`).toContain(series);
      }
    }
  });

  it("asks the one provisioned data source", () => {
    const uids = datasources.datasources.map(({ uid }) => uid);
    expect(datasources.datasources.map(({ url }) => url)).toEqual(["http://prometheus:9090"]);
    for (const { title, datasource, targets = [] } of graphs) {
      for (const used of [datasource, ...targets.map((target) => target.datasource)]) {
        expect(uids, title).toContain(used?.uid);
      }
    }
  });

  it("is found where Grafana looks for it", () => {
    const mounts = readCompose("deploy/compose.yaml").services.grafana?.volumes ?? [];
    expect(mounts).toContain("./grafana/provisioning:/etc/grafana/provisioning:ro");
    for (const { options } of providers.providers) expect(mounts).toContain(`./grafana/dashboards:${options.path}:ro`);
  });

  it("gives every panel its own number, its own place and a sentence that explains it", () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    for (const { title, description } of graphs) expect(description, title).toMatch(/^[A-Z].*\.$/);
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });
});

describe("prometheus", () => {
  it("finds every replica of every service at the port where containers serve metrics", () => {
    const job = prometheus.scrape_configs.find(({ job_name }) => job_name === "tenure");
    expect(job?.dns_sd_configs).toHaveLength(1);
    expect([...(job?.dns_sd_configs?.[0]?.names ?? [])].sort()).toEqual(serviceNames());
    expect(job?.dns_sd_configs?.[0]?.port).toBe(8369);
  });

  it("loads the alerts", () => {
    expect(prometheus.rule_files).toEqual(["alerts.yaml"]);
  });
});

describe.each(rules.map((rule) => [rule.alert, rule] as const))("alert %s", (_, rule) => {
  it("uses only series that the services expose", async () => {
    const existing = await existingSeries();
    expect(seriesIn(rule.expr).length).toBeGreaterThan(0);
    for (const series of seriesIn(rule.expr)) expect([...existing], rule.expr).toContain(series);
  });

  it("says how urgent it is and what to do", () => {
    expect(["page", "ticket"]).toContain(rule.labels.severity);
    expect(rule.annotations.summary).not.toBe("");
    expect(rule.annotations.description).toMatch(/\.$/);
  });

  it("is explained where it says", () => {
    expect(rule.annotations.runbook).toBe("docs/operations.md#alerts");
    expect(runbook).toMatch(new RegExp(`^\\| \`${rule.alert}\` \\| ${rule.labels.severity} \\| .+ \\| .+ \\|$`, "m"));
  });
});

describe("the alerts of docs/operations.md", () => {
  it("are those that there are", () => {
    const explained = [...runbook.matchAll(/^\| `(Tenure[A-Za-z]+)` \|/gm)].map(([, name]) => name);
    expect(explained.sort()).toEqual(rules.map(({ alert }) => alert).sort());
    expect(runbook).toContain("deploy/prometheus/alerts.yaml");
  });
});

describe("seriesIn", () => {
  it.each([
    ["up", ["up"]],
    ['absent(tenure_ready{service="gateway"} == 1)', ["tenure_ready"]],
    ["sum by (service) (increase(a_total[5m]))", ["a_total"]],
    ["count(count by (version) (tenure_build_info)) > 1", ["tenure_build_info"]],
    ["time() - process_start_time_seconds", ["process_start_time_seconds"]],
    ["histogram_quantile(0.99, sum by (le) (rate(a_seconds_bucket[1m])))", ["a_seconds_bucket"]],
  ])("finds what %s reads", (expression, series) => {
    expect(seriesIn(expression)).toEqual(series);
  });
});
