#!/usr/bin/env node
import { serve } from "@tenure/bus";
import { SystemServiceDefinition } from "@tenure/contracts";
import { readLogSize } from "@tenure/log";
import { productVersion, runService, type ServiceContext, watchPresence } from "@tenure/runtime";
import { checkListener, gatewayFields } from "./config.ts";
import { Gateway } from "./gateway.ts";
import { sharedAnswer } from "./shared-answer.ts";
import { missingServices, systemStatus } from "./system-status.ts";
import { LeaseMetrics } from "./watch/lease-metrics.ts";
import { leaseCounts } from "./watch/lease-tally.ts";
import { type StoreReads, startStoreReads } from "./watch/store-reads.ts";

/** A status does not wait longer for the log's size. */
const logSizeTimeoutMs = 1_000;
/** The log's size is asked for no oftener, however many dashboards ask. */
const sizeKeptMs = 500;

await runService({
  name: "gateway",
  summary: "Serves the public API over gRPC: sessions, plain calls and watches.",
  fields: gatewayFields,
  check: checkListener,
  start,
});

/** Watches who is there, serves the system's status on the bus, and opens gRPC. Stops in the reverse order. */
async function start(context: ServiceContext<typeof gatewayFields>): Promise<AsyncDisposable> {
  const { bus, clock, config, health, incarnation, log, presence, random } = context;
  const served = new Set<string>();
  health.set("system", false, "nobody was heard of yet");
  const watch = watchPresence(bus, clock, (instances) => {
    for (const name of instances.flatMap((instance) => instance.serves)) served.add(name);
    const missing = missingServices(instances);
    health.set("system", missing.length === 0, missing.join("; "));
  });
  let leaseReads: StoreReads | undefined;
  const logSize = sharedAnswer(clock, sizeKeptMs, () => readLogSize(bus, logSizeTimeoutMs).catch(() => undefined));
  const status = async () => {
    const log = await logSize();
    const { instances } = watch;
    const numbers = leaseReads?.numbers;
    const leases = numbers && leaseCounts(numbers);
    return systemStatus({ version: productVersion, mode: config.mode, incarnation, instances, leases, log });
  };
  const server = serve(bus, SystemServiceDefinition, { status });
  await bus.flush(); // From here on callers find it.
  const { keptChanges, queuedPerWatcher, watchers } = config;
  const leaseMetrics = new LeaseMetrics(context.metrics);
  const reads = await startStoreReads({
    bus,
    clock,
    random,
    incarnation,
    limits: { keptChanges, queuedPerWatcher, watchers },
    onLed: (leaderlessMs) => leaseMetrics.noteLed(leaderlessMs),
    note: (what, message) => log.warn(what, message),
  });
  leaseReads = reads;
  leaseMetrics.show(() => reads.numbers);
  const unready = reads.onReady((isReady, why) => health.set("log", isReady, why));
  const gateway = await Gateway.start(context, { reads, wasServed: (fullName) => served.has(fullName) });
  const { grpc } = gateway;
  const unfollow = health.onChange(() => grpc.setServing(health.ready));
  presence.describe(() => ({ grpcAddress: `${config.grpcHost}:${grpc.port}` }));
  const tls = config.tlsCertFile !== undefined;
  const clientCertificates = config.tlsClientCaFile !== undefined;
  const policy = config.policyFile !== undefined;
  const note = tls || config.insecure ? "gRPC listens" : "gRPC listens without TLS, so on loopback only";
  log.info({ host: config.grpcHost, port: grpc.port, tls, clientCertificates, policy }, note);
  return {
    async [Symbol.asyncDispose]() {
      unfollow();
      await gateway[Symbol.asyncDispose]();
      unready();
      await reads[Symbol.asyncDispose]();
      await server.stop();
      watch[Symbol.dispose]();
    },
  };
}
