import type { Msg, Subscription } from "@nats-io/transport-node";
import { Answers } from "./answers.ts";
import type { Bus } from "./bus.ts";
import { type BusConnection, connectionOf } from "./bus-connection.ts";
import { type CallMetadata, metadataOf } from "./call-headers.ts";
import { type BusServer, defaultDeadlineMs, type Handlers, type ServeOptions } from "./call-options.ts";
import { type ControlChannel, releaseControlChannel, useControlChannel } from "./control-channel.ts";
import type { Execution, ExecutionHost, ServedMethod } from "./execution.ts";
import { malformed, natsPermissionDenied, noResponder, serverStopping, tooManyCalls } from "./faults.ts";
import { mostPackedBytes, unpackParts } from "./packed-parts.ts";
import { callerOf, type Reply, subjectOf } from "./reply.ts";
import { RunningCall } from "./running-call.ts";
import type { ServiceDefinition } from "./service-definition.ts";
import { beatLimitsMs, largestWindow } from "./stream-call.ts";
import { StreamExecution } from "./stream-execution.ts";
import { batchSubject, callSubject, subjectToken } from "./subjects.ts";
import { UnaryExecution } from "./unary-execution.ts";

/** How many handlers run at once unless the server says otherwise. */
export const defaultMaxRunning = 10_000;

/** How long a stop waits for unary calls unless the server says otherwise. */
export const defaultStopGraceMs = 5_000;

/**
 * Serves the methods of a service for which there are handlers; a call of any other finds no responder. Handlers run
 * concurrently, at most `maxRunning` of them. The server works again by itself after a reconnect.
 */
export function serve<Definition extends ServiceDefinition>(
  bus: Bus,
  definition: Definition,
  handlers: Partial<Handlers<Definition>>,
  options: ServeOptions = {},
): BusServer {
  const methods: ServedMethod[] = [];
  const byKey = handlers as Readonly<Record<string, ServedMethod["handler"] | undefined>>;
  for (const [key, method] of Object.entries(definition.methods)) {
    const handler = byKey[key];
    if (handler === undefined || method.requestStream) continue;
    const label = `${definition.name}.${method.name}`;
    methods.push({
      label,
      definition: method,
      handler: (request, context) => handler.call(handlers, request, context),
    });
  }
  return new ServiceServer(connectionOf(bus), definition.name, methods, options);
}

class ServiceServer implements BusServer, ExecutionHost {
  readonly connection: BusConnection;
  readonly answers: Answers;
  readonly #service: string;
  readonly #options: ServeOptions;
  readonly #maxRunning: number;
  readonly #control: ControlChannel;
  readonly #methods: ReadonlyMap<string, ServedMethod>;
  readonly #subscriptions: readonly Subscription[];
  readonly #ignoreStatus: () => void;
  /** Who sent the last batch. */
  #lastCaller = "";
  #running = 0;
  #onIdle: (() => void) | undefined;
  #stopping: Promise<void> | undefined;

  constructor(connection: BusConnection, service: string, methods: readonly ServedMethod[], options: ServeOptions) {
    this.connection = connection;
    this.#service = service;
    this.#options = options;
    this.#maxRunning = options.maxRunning ?? defaultMaxRunning;
    this.answers = new Answers(connection);
    this.#control = useControlChannel(connection, service);
    this.#ignoreStatus = connection.onStatus((status) => {
      if (status !== "connected") for (const execution of this.#executions()) execution.onDisconnect();
    });
    this.#methods = new Map(methods.map((method) => [method.definition.name, method]));
    const { route } = options;
    const subscriptions = methods.map((method) =>
      this.#subscribe(callSubject(service, method.definition.name, route), (message) => this.#accept(method, message)),
    );
    if (route !== undefined) {
      subscriptions.push(this.#subscribe(batchSubject(service, route), (message) => this.#acceptBatch(message)));
    }
    this.#subscriptions = subscriptions;
  }

  get running(): number {
    return this.#running;
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  reportHandlerError(thrown: unknown, method: string): void {
    const { onHandlerError } = this.#options;
    if (onHandlerError === undefined) this.connection.report(thrown);
    else onHandlerError(thrown, { method });
  }

  finished(reply: Reply, execution: Execution): void {
    this.#control.calls.delete(reply, execution);
    this.#running -= 1;
    if (this.#running === 0) this.#onIdle?.();
  }

  #subscribe(subject: string, accept: (message: Msg) => void): Subscription {
    const { route, queue = route === undefined ? this.#service : false } = this.#options;
    return this.connection.nats.subscribe(subject, {
      ...(queue === false ? {} : { queue: subjectToken(queue, "queue") }),
      callback: (error, message) => {
        // The client's reader dies with an exception of a callback, so none may leave this function.
        try {
          if (error === null) accept(message);
          else this.connection.report(natsPermissionDenied("subscribe to", subject));
        } catch (thrown) {
          this.connection.report(thrown);
        }
      },
    });
  }

  #accept(method: ServedMethod, message: Msg): void {
    const { data, reply } = message;
    if (reply === undefined || reply === "") return;
    try {
      this.#begin(method, reply, metadataOf(message), data);
    } catch (thrown) {
      this.answers.fail(method.label, reply, this.answers.faultOf(thrown, method.label));
    }
  }

  /** Every call of a batch is one of its own from here on, except that its answer may travel with others. */
  #acceptBatch(message: Msg): void {
    const { data, reply, subject } = message;
    if (reply === undefined || reply === "") return;
    // Clients of ours never send more, and all of it is worked off before anybody else is heard.
    const mostBytes = mostPackedBytes(this.connection);
    if (data.byteLength > mostBytes) {
      throw malformed(subject, "request", new RangeError(`${data.byteLength} bytes, more than ${mostBytes}`));
    }
    const caller = this.#callerOf(reply);
    let metadata: CallMetadata | undefined;
    for (const { label, number, payload } of unpackParts(data)) {
      const method = this.#methods.get(label);
      const name = method?.label ?? `${this.#service}.${label}`;
      const answerTo = { caller, number };
      try {
        if (method === undefined) throw noResponder(name, subject);
        metadata ??= metadataOf(message);
        this.#begin(method, answerTo, metadata, payload);
      } catch (thrown) {
        this.answers.fail(name, answerTo, this.answers.faultOf(thrown, name));
      }
    }
  }

  /** The very text of the batch before, if it is the same: one that was just cut out is slow to look anything up by. */
  #callerOf(reply: string): string {
    const caller = callerOf(reply);
    if (caller !== this.#lastCaller) this.#lastCaller = caller;
    return this.#lastCaller;
  }

  #begin(method: ServedMethod, reply: Reply, metadata: CallMetadata, bytes: Uint8Array): void {
    if (this.#running >= this.#maxRunning) throw tooManyCalls(method.label, this.#maxRunning);
    let request: unknown;
    try {
      request = method.definition.requestType.decode(bytes);
    } catch (thrown) {
      throw malformed(method.label, "request", thrown);
    }
    this.#execute(method, reply, metadata, request);
  }

  #execute(method: ServedMethod, reply: Reply, metadata: CallMetadata, request: unknown): void {
    if (method.definition.responseStream)
      this.#start(subjectOf(reply), this.#streamOf(method, reply, metadata), request);
    else {
      const { deadlineMs = defaultDeadlineMs } = metadata;
      this.#start(reply, new UnaryExecution(this, method, metadata, deadlineMs, reply), request);
    }
  }

  #start(reply: Reply, execution: UnaryExecution | StreamExecution, request: unknown): void {
    this.#running += 1;
    this.#control.calls.add(reply, execution);
    execution.start(request);
  }

  #streamOf(method: ServedMethod, reply: Reply, metadata: CallMetadata): StreamExecution {
    const { deadlineMs = Number.POSITIVE_INFINITY } = metadata;
    const call = new RunningCall(method.label, metadata, deadlineMs, this.connection);
    return new StreamExecution(this, method, call, subjectOf(reply), clampStream(metadata));
  }

  #executions(): Execution[] {
    const own: Execution[] = [];
    for (const call of this.#control.calls.all) {
      if ((call instanceof UnaryExecution || call instanceof StreamExecution) && call.host === this) own.push(call);
    }
    return own;
  }

  /** Streams are ended at once, because they might never end; unary calls get their grace, then are aborted too. */
  async #stop(): Promise<void> {
    const { stopGraceMs = defaultStopGraceMs } = this.#options;
    const grace = new AbortController();
    const graceOver = this.connection.clock.sleep(stopGraceMs, grace.signal).catch(() => undefined);
    await Promise.race([this.#unsubscribe(), graceOver]);
    this.#abort((execution) => execution.isStream);
    await Promise.race([this.#idle(), graceOver]);
    grace.abort();
    this.#abort(() => true);
    this.#ignoreStatus();
    this.answers.stop();
    releaseControlChannel(this.connection, this.#service);
  }

  #abort(isMeant: (execution: Execution) => boolean): void {
    for (const execution of this.#executions()) if (isMeant(execution)) execution.end(serverStopping(this.#service));
  }

  /** After a drain every call that had been routed here has been accepted, and none will come. */
  async #unsubscribe(): Promise<void> {
    if (this.connection.nats.isClosed()) return;
    const open = this.#subscriptions.filter((subscription) => !subscription.isClosed());
    if (this.connection.connected) await Promise.allSettled(open.map((subscription) => subscription.drain()));
    else for (const subscription of open) subscription.unsubscribe();
  }

  #idle(): Promise<void> {
    if (this.#running === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onIdle = resolve;
    });
  }
}

/** A caller's wishes are kept within what the server can bear. */
function clampStream(metadata: CallMetadata): CallMetadata {
  const { window, beatMs } = metadata;
  return {
    ...metadata,
    ...(window === undefined ? {} : { window: Math.min(window, largestWindow) }),
    ...(beatMs === undefined ? {} : { beatMs: Math.min(Math.max(beatMs, beatLimitsMs.fastest), beatLimitsMs.slowest) }),
  };
}
