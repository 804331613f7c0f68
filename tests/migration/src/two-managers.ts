/** A configuration, and two managers that have its controllers. */
import { documentOf, type Manager, meaningOf } from "./migration-desk.ts";

export const any = documentOf("moves", { route: "*", service: "*" });
export const toCloud = documentOf("moves", { route: "cloud", service: "cloud" });
const controllers = ["route", "service"];
export const kube: Manager = { instance: "kube-1", component: "kube", version: "1.21.0", controllers };
export const cloud: Manager = { instance: "cloud-1", component: "cloud", version: "1.22.0", controllers };
export const withAny = { configurations: [meaningOf(any)] };
