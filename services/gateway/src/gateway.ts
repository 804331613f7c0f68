import type { ServiceDefinition } from "@tenure/bus";
import {
  fileDescriptorSet,
  IdentityServiceDefinition,
  LeaseServiceDefinition,
  MigrationServiceDefinition,
  publicServices,
} from "@tenure/contracts";
import { productVersion, type ServiceContext } from "@tenure/runtime";
import {
  AdmittedRenewals,
  createSessionEngine,
  type EngineParts,
  type LocalReads,
  RenewalCoalescer,
  type SessionLimits,
} from "@tenure/session";
import { type gatewayFields, readPolicy, readTls } from "./config.ts";
import { ConnectionLimits } from "./front/connection-limits.ts";
import type { FrontContext } from "./front/front-context.ts";
import { frontService, type StreamFronts } from "./front/front-service.ts";
import { grpcDefinition } from "./front/grpc-definition.ts";
import { type GrpcServer, startGrpcServer } from "./front/grpc-server.ts";
import { identifyByCertificate, identifyNobody } from "./front/principal.ts";
import { streamFront } from "./front/stream-front.ts";
import { Heartbeat, type HeartbeatServices } from "./identity/heartbeat.ts";
import { heartbeatMetrics } from "./identity/heartbeat-metrics.ts";
import { deniedCalls, gatewayMetrics } from "./metrics.ts";
import { Join } from "./migration/join.ts";
import { Judge } from "./policy/judge.ts";
import { reflectionEntries } from "./reflection/reflection-service.ts";
import { KeepAlive } from "./session/keep-alive.ts";
import { SessionConnection } from "./session/session-connection.ts";
import { sessionFront, sessionPath } from "./session/session-front.ts";
import type { StoreReads } from "./watch/store-reads.ts";

type Context = ServiceContext<typeof gatewayFields>;

/** What the gateway stands on beside its service context. */
export interface GatewayPorts {
  /** The gateway's own copy of the log. */
  readonly reads: StoreReads;
  /** Whether a running instance has ever announced that it serves this service, by full name. */
  wasServed(fullName: string): boolean;
}

/** Beats of identities may wait a little for others: three missed ones, of a second or more each, make one silent. */
const unhurried = { gatherMs: 250, deadlineMs: 5_000 };

/** Sessions have this long to go elsewhere after the goodbye, in milliseconds; then they are ended. */
const goodbyeMs = 2_000;

/**
 * The gateway itself: sessions and plain calls over gRPC, both by one way to the services. Disposing of it says goodbye
 * to sessions, ends streams, lets open calls finish within the grace and then cuts what is left.
 */
export class Gateway implements AsyncDisposable {
  readonly #context: Context;
  readonly #parts: EngineParts;
  readonly #stop: AbortController;
  readonly #unfollow: () => void;
  readonly grpc: GrpcServer;

  private constructor(
    context: Context,
    parts: EngineParts,
    stop: AbortController,
    unfollow: () => void,
    grpc: GrpcServer,
  ) {
    this.#context = context;
    this.#parts = parts;
    this.#stop = stop;
    this.#unfollow = unfollow;
    this.grpc = grpc;
  }

  /** Opens gRPC. */
  static async start(context: Context, ports: GatewayPorts): Promise<Gateway> {
    const stop = new AbortController();
    const judge = judgeOf(context, ports);
    const parts = engineOf(context, ports, judge);
    const unfollow = ports.reads.onOwner((partition, epoch) => parts.routes.note(partition, epoch));
    const front = frontOf(context, parts, judge, stop.signal);
    gatewayMetrics(context.metrics, { ...parts, ...ports, connections: front.connections });
    try {
      const grpc = await openGrpc(context, front, parts, streamFronts(context, ports, parts, front, judge));
      return new Gateway(context, parts, stop, unfollow, grpc);
    } catch (thrown) {
      unfollow();
      await parts[Symbol.asyncDispose]();
      throw thrown;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { clock } = this.#context;
    this.grpc.setServing(false);
    this.#stop.abort();
    this.#parts.engine.sayGoodbye("the gateway stops");
    // Only the sessions: plain calls that are still open follow their owner until the grace is over.
    const cut = clock.schedule(goodbyeMs, () => void this.#parts.engine[Symbol.asyncDispose]());
    await this.grpc[Symbol.asyncDispose]();
    cut.cancel();
    this.#unfollow();
    await this.#parts[Symbol.asyncDispose]();
  }
}

/** Absent: everyone who may connect may do everything. */
function judgeOf({ config, log, metrics }: Context, { reads }: GatewayPorts): Judge | undefined {
  const policy = readPolicy(config);
  if (policy === undefined) return undefined;
  const count = deniedCalls(metrics);
  return new Judge({
    policy,
    identityNamespace: config.identityNamespace,
    termOf: (partition, holdId) => reads.termOf(partition, holdId),
    onDenied: (denial) => {
      count(denial.verb);
      log.warn(denial, "a call was denied");
    },
  });
}

function engineOf(
  { bus, clock, config, incarnation, instance, random }: Context,
  ports: GatewayPorts,
  admission: Judge | undefined,
): EngineParts {
  const { reads, wasServed } = ports;
  const limits: SessionLimits = {
    openCalls: config.openCallsPerSession,
    streams: config.streamsPerSession,
    callsPerSecond: config.requestsPerSecond,
    messageBytes: config.maxSessionMessageBytes,
    queuedBytes: config.queuedBytesPerSession,
  };
  return createSessionEngine({
    bus,
    clock,
    random,
    instance,
    version: productVersion,
    partitions: incarnation.partitions,
    incarnationId: incarnation.id,
    limits,
    reads: whenReady(reads),
    news: {
      follow: (lease, listener) => reads.news.follow(lease, listener),
      termOf: (partition, holdId) => reads.termOf(partition, holdId),
    },
    announcesCandidates: true,
    wasServed,
    admission,
  });
}

/** Until the copy of the log has caught up, the lease stores answer what it would. */
function whenReady(reads: StoreReads): LocalReads {
  return {
    unary: (method, request, scope) => (reads.isReady ? reads.unary(method, request, scope) : undefined),
    stream: (method, request, signal) => (reads.isReady ? reads.stream(method, request, signal) : undefined),
  };
}

function frontOf(
  { clock, config, log }: Context,
  { calls }: EngineParts,
  admission: Judge | undefined,
  stop: AbortSignal,
): FrontContext {
  const { maxRequestBytes, maxSessionMessageBytes, requestsPerSecond, streamsPerConnection } = config;
  return {
    calls,
    clock,
    connections: new ConnectionLimits({ clock, requestsPerSecond, streamsPerConnection }),
    identify: config.tlsClientCaFile === undefined ? identifyNobody : identifyByCertificate(),
    admission,
    maxRequestBytes,
    maxSessionMessageBytes,
    stop,
    onMistake: (thrown) => log.error({ err: thrown }, "a call failed by a mistake of the gateway"),
  };
}

/** The streams of clients that the gateway itself serves. */
function streamFronts(
  { clock, config, incarnation, metrics }: Context,
  { reads }: GatewayPorts,
  { engine, renewals, store }: EngineParts,
  front: FrontContext,
  judge: Judge | undefined,
): StreamFronts {
  const holdOf: StoreReads["holdOf"] = (lease, token) => reads.holdOf(lease, token);
  const keepAlive = { store, renewals, partitions: incarnation.partitions, holdOf };
  const beats = new RenewalCoalescer(store, { clock, ...unhurried });
  const heartbeat: HeartbeatServices = {
    store,
    renewals: judge === undefined ? beats : new AdmittedRenewals(beats, judge),
    clock,
    partitions: incarnation.partitions,
    namespace: config.identityNamespace,
    recordOf: (lease) => reads.recordOf(lease),
    attend: () => reads.attend(),
    termOf: (partition, holdId) => reads.termOf(partition, holdId),
    onCommitted: heartbeatMetrics(metrics),
  };
  return {
    [sessionPath]: sessionFront(engine, front),
    "/tenure.v1.LeaseService/KeepAlive": streamFront(
      { ...LeaseServiceDefinition.methods.keepAlive, name: "LeaseService.KeepAlive" },
      front,
      (principal, send) => new KeepAlive(keepAlive, principal, send),
    ),
    "/tenure.v1.IdentityService/Heartbeat": streamFront(
      { ...IdentityServiceDefinition.methods.heartbeat, name: "IdentityService.Heartbeat" },
      front,
      (principal, send) => new Heartbeat(heartbeat, principal, send),
    ),
    "/tenure.v1.MigrationService/Join": streamFront(
      { ...MigrationServiceDefinition.methods.join, name: "MigrationService.Join" },
      front,
      (principal, send, fail) => new Join(front, principal, { send, fail }),
    ),
  };
}

function openGrpc(
  { clock, config }: Context,
  front: FrontContext,
  { engine }: EngineParts,
  streams: StreamFronts,
): Promise<GrpcServer> {
  const definitions: readonly ServiceDefinition[] = Object.values(publicServices);
  const services = definitions.map((definition) => ({
    fullName: definition.fullName,
    definition: grpcDefinition(definition),
    handlers: frontService(definition, front, streams),
  }));
  const listed = services.map(({ fullName }) => fullName);
  return startGrpcServer({
    host: config.grpcHost,
    port: config.grpcPort,
    tls: readTls(config),
    entries: [...services, ...reflectionEntries(fileDescriptorSet(), listed, front)],
    serveSession: (socket, bytes) => new SessionConnection(engine, front, socket).take(bytes),
    streamsPerConnection: config.streamsPerConnection,
    clock,
    stopGraceMs: config.stopTimeoutMs / 2,
  });
}
