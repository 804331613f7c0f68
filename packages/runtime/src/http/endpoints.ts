import type { Registry } from "prom-client";
import type { Health } from "../health.ts";
import { type Router, send, sendJson, sendText } from "./router.ts";

/**
 * The three paths of every service. `/livez` says only that the process answers: it stays 200 without NATS, because a
 * restart would not bring NATS back. `/readyz` is 503 with the conditions that are not met. `/metrics` is Prometheus text.
 */
export function addEndpoints(router: Router, health: Health, registry: Registry): void {
  router.route("/livez", (_, response) => sendText(response, 200, "ok\n"));
  router.route("/readyz", (_, response) => {
    const { ready, unmet } = health;
    sendJson(response, ready ? 200 : 503, { ready, unmet });
  });
  router.route("/metrics", async (_, response) => {
    send(response, 200, registry.contentType, await registry.metrics());
  });
}
