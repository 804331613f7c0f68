import { type Bus, type BusOptions, connectBus, inboxPrefixOf } from "@tenure/bus";
import { redactLogins } from "@tenure/kernel";
import { readIncarnation } from "@tenure/log";
import type { Logger } from "pino";
import type { Fields } from "./config/index.ts";
import { type Credentials, readCredentials } from "./credentials.ts";
import { bootCheck, collectFacts, type DoctorReport, examine, passedChecks } from "./doctor/index.ts";
import { followBus } from "./follow-bus.ts";
import type { Health } from "./health.ts";
import { keepHeapSmall } from "./heap.ts";
import type { Host } from "./host.ts";
import { addEndpoints, type HttpServer, Router, startHttpServer } from "./http/index.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { createMetrics, type RuntimeMetrics } from "./metrics.ts";
import { Presence } from "./presence/index.ts";
import type { ServiceContext, ServiceDefinition } from "./service.ts";
import { sharing } from "./sharing.ts";
import { productVersion } from "./version.ts";

/** What a boot works with. */
export interface BootInput<F extends Fields> {
  readonly definition: ServiceDefinition<F>;
  readonly config: ServiceContext<F>["config"];
  readonly host: Host;
  readonly log: Logger;
  readonly health: Health;
  readonly lifecycle: Lifecycle;
}

/** The NATS user of the system account, whose inboxes its replies come to. */
const systemUser = "system";

/**
 * Brings a service up: HTTP first, so that it can be seen to live; then NATS, the boot check, the incarnation, and the
 * service itself. Each thing that starts leaves a step that stops it. Throws the fault that keeps it from starting.
 */
export async function boot<F extends Fields>(input: BootInput<F>): Promise<void> {
  const { definition, config, host, log, health, lifecycle } = input;
  const startedAtMs = host.clock.wall();
  const heap = keepHeapSmall(host.clock, definition.heapGrowth);
  lifecycle.steps.push("heap", () => heap[Symbol.dispose]());
  const metrics = createMetrics(definition.name, health);
  const router = new Router();
  const http = await openHttp(input, router, metrics);
  const credentials = readCredentials(config, host);
  for (const warning of credentials.warnings) log.warn(warning);

  lifecycle.starting(`connecting to NATS at ${config.natsUrl.map(redactLogins).join(", ")}`);
  const bus = await openBus(input, credentials, metrics);
  const presence = announce(input, bus, http, startedAtMs);

  lifecycle.starting("checking NATS");
  await check(input, bus, credentials);
  const incarnation = await readIncarnation(bus, {
    clock: host.clock,
    random: host.random,
    signal: lifecycle.stopping,
  });
  presence.describe(() => ({ incarnationId: incarnation.id }));

  lifecycle.starting("the service starts");
  const context: ServiceContext<F> = {
    config,
    clock: host.clock,
    random: host.random,
    log,
    metrics: metrics.registry,
    health,
    http: router,
    bus,
    incarnation,
    instance: config.instance,
    presence,
    examineDeployment: sharing((withProbe) => examineAgain(input, bus, credentials, withProbe)),
    stop: lifecycle.stopping,
  };
  const service = await definition.start(context);
  lifecycle.steps.push("service", () => service?.[Symbol.asyncDispose]());
  presence.serving();
}

async function openHttp(input: BootInput<Fields>, router: Router, metrics: RuntimeMetrics): Promise<HttpServer> {
  const { config, log, health, lifecycle } = input;
  addEndpoints(router, health, metrics.registry);
  const onError = (thrown: unknown): void => log.error({ err: thrown }, "http request failed");
  const server = await startHttpServer({ host: config.httpHost, port: config.httpPort, router, onError });
  lifecycle.steps.push("http", () => server[Symbol.asyncDispose]());
  log.info({ host: server.host, port: server.port }, "http listens");
  return server;
}

async function openBus(input: BootInput<Fields>, credentials: Credentials, metrics: RuntimeMetrics): Promise<Bus> {
  const { definition, log, health, lifecycle } = input;
  const bus = await connectBus(busOptions(input, credentials, definition.name), lifecycle.stopping);
  log.info({ natsVersion: bus.serverVersion }, "connected to NATS");
  const unfollow = followBus(bus, { health, metrics, log, onClosed: (fault) => lifecycle.fail(fault) });
  lifecycle.steps.push("bus", () => {
    unfollow();
    return bus.drain();
  });
  return bus;
}

function announce(input: BootInput<Fields>, bus: Bus, http: HttpServer, startedAtMs: number): Presence {
  const { definition, config, host, health, lifecycle } = input;
  const presence = new Presence({
    bus,
    clock: host.clock,
    health,
    service: definition.name,
    instance: config.instance,
    version: productVersion,
    startedAtMs,
    httpAddress: httpAddress(http, host.hostname),
  });
  lifecycle.steps.push("presence", () => presence.stop());
  lifecycle.stopping.addEventListener("abort", () => presence.stopping(), { once: true });
  return presence;
}

async function check(input: BootInput<Fields>, bus: Bus, credentials: Credentials): Promise<void> {
  const { definition, config, host, log, lifecycle } = input;
  const signal = lifecycle.stopping;
  await withSystemBus(input, credentials, signal, async (systemBus) => {
    const probe = definition.probe ?? false;
    await bootCheck({ bus, systemBus, mode: config.mode, log, probe, clock: host.clock, signal });
  });
}

/** The same check as at boot, on request: it reports and stops nothing. */
async function examineAgain(
  input: BootInput<Fields>,
  bus: Bus,
  credentials: Credentials,
  probe: boolean,
): Promise<DoctorReport> {
  const { config, host } = input;
  const signal = input.lifecycle.stopping;
  const startedMs = host.clock.now();
  const facts = await withSystemBus(input, credentials, signal, (systemBus) =>
    collectFacts(bus, systemBus, { probe, clock: host.clock, signal }),
  );
  const findings = examine(facts, config.mode);
  return {
    findings,
    passed: passedChecks(facts, findings),
    instance: config.instance,
    tookMs: host.clock.now() - startedMs,
  };
}

/** The system connection lives only as long as a check: nothing else may see other accounts. */
async function withSystemBus<Result>(
  input: BootInput<Fields>,
  credentials: Credentials,
  signal: AbortSignal,
  use: (systemBus: Bus | undefined) => Promise<Result>,
): Promise<Result> {
  const hasSystemUser = credentials.systemNkeySeed !== undefined || input.config.natsSystemUrl !== undefined;
  const systemBus = hasSystemUser ? await connectBus(busOptions(input, credentials, systemUser), signal) : undefined;
  try {
    return await use(systemBus);
  } finally {
    await systemBus?.drain();
  }
}

function busOptions(input: BootInput<Fields>, credentials: Credentials, user: string): BusOptions {
  const { config, host, definition, log } = input;
  const isSystem = user === systemUser;
  return {
    servers: (isSystem ? config.natsSystemUrl : undefined) ?? config.natsUrl,
    name: `tenure ${definition.name} ${config.instance}${isSystem ? " (boot check)" : ""}`,
    inboxPrefix: inboxPrefixOf(user),
    nkeySeed: isSystem ? credentials.systemNkeySeed : credentials.nkeySeed,
    tls: credentials.tls,
    clock: host.clock,
    random: host.random,
    connectTimeoutMs: config.natsConnectTimeoutMs,
    onFault: (fault) => log.warn({ err: fault }, "nats reports a failure"),
  };
}

/** Where others reach the HTTP port: a listener on every address is announced by the machine's name. */
function httpAddress({ host, port }: HttpServer, hostname: string): string {
  const reachable = host === "0.0.0.0" || host === "::" ? hostname : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}
