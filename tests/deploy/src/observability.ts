import { parse } from "yaml";
import { readText } from "./repository.ts";

/** A panel of the dashboard, or the head of a row of them. */
export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly { readonly expr: string; readonly datasource: { readonly uid: string } }[];
}

/** What Grafana shows. */
export interface Dashboard {
  readonly uid: string;
  readonly panels: readonly Panel[];
}

/** What Prometheus alerts on. */
export interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly runbook: string; readonly summary: string; readonly description: string };
}

/** The provisioned dashboard. */
export const dashboard = JSON.parse(readText("deploy/grafana/dashboards/tenure.json")) as Dashboard;

/** Every rule of the alerts file. */
export const rules = (
  parse(readText("deploy/prometheus/alerts.yaml")) as { readonly groups: readonly { rules: Rule[] }[] }
).groups.flatMap((group) => group.rules);

/** The panels that show something. */
export const graphs = dashboard.panels.filter(({ type }) => type !== "row");

/** Every expression of the alerts and the dashboard, after the name of who asks it. */
export const expressions: readonly (readonly [string, string])[] = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...graphs.flatMap(({ targets = [], title }) => targets.map(({ expr }) => [title, expr] as const)),
];
