#!/usr/bin/env node
import { serve } from "@tenure/bus";
import { fileDescriptorSet, publicServices, SystemServiceDefinition } from "@tenure/contracts";
import { productVersion, runService, type ServiceContext, watchPresence } from "@tenure/runtime";
import { gatewayFields, readTls } from "./config.ts";
import { forwardService } from "./forward.ts";
import { grpcDefinition } from "./grpc-definition.ts";
import { type GrpcServer, startGrpcServer } from "./grpc-server.ts";
import { missingServices, systemStatus } from "./system-status.ts";

await runService({
  name: "gateway",
  summary: "Serves the public API over gRPC and forwards every call to the bus.",
  fields: gatewayFields,
  check: readTls,
  start,
});

/** Watches who is there, serves the system's status on the bus, and opens gRPC. Stops in the reverse order. */
async function start(context: ServiceContext<typeof gatewayFields>): Promise<AsyncDisposable> {
  const { bus, clock, config, health, incarnation, log, presence } = context;
  const served = new Set<string>();
  health.set("system", false, "nobody was heard of yet");
  const watch = watchPresence(bus, clock, (instances) => {
    for (const name of instances.flatMap((instance) => instance.serves)) served.add(name);
    const missing = missingServices(instances);
    health.set("system", missing.length === 0, missing.join("; "));
  });
  const status = () =>
    systemStatus({ version: productVersion, mode: config.mode, incarnation, instances: watch.instances });
  const server = serve(bus, SystemServiceDefinition, { status });
  await bus.flush(); // From here on callers find it.
  const grpc = await openGrpc(context, (fullName) => served.has(fullName));
  const unfollow = health.onChange(() => grpc.setServing(health.ready));
  presence.describe(() => ({ grpcAddress: `${config.grpcHost}:${grpc.port}` }));
  log.info({ host: config.grpcHost, port: grpc.port, tls: config.tlsCertFile !== undefined }, "gRPC listens");
  return {
    async [Symbol.asyncDispose]() {
      unfollow();
      await grpc[Symbol.asyncDispose]();
      await server.stop();
      watch[Symbol.dispose]();
    },
  };
}

/** Every service of the public API, each forwarded as it is. */
function openGrpc(
  { bus, clock, config }: ServiceContext<typeof gatewayFields>,
  wasServed: (fullName: string) => boolean,
): Promise<GrpcServer> {
  return startGrpcServer({
    host: config.grpcHost,
    port: config.grpcPort,
    tls: readTls(config),
    entries: Object.values(publicServices).map((definition) => ({
      fullName: definition.fullName,
      definition: grpcDefinition(definition),
      handlers: forwardService(definition, { bus, clock, wasServed }),
    })),
    descriptors: fileDescriptorSet(),
    clock,
    stopGraceMs: config.stopTimeoutMs / 2,
  });
}
