import type { Fault } from "@tenure/kernel";
import type { Answers } from "./answers.ts";
import type { BusConnection } from "./bus-connection.ts";
import type { SteeredCall } from "./control-channel.ts";
import type { Reply } from "./reply.ts";
import type { MethodDefinition } from "./service-definition.ts";

/** A method as it is served. */
export interface ServedMethod {
  /** `<Service>.<Method>`. */
  readonly label: string;
  readonly definition: MethodDefinition;
  readonly handler: (request: unknown, context: unknown) => unknown;
}

/** What a running handler needs of its server. */
export interface ExecutionHost {
  readonly connection: BusConnection;
  readonly answers: Answers;
  /** Tells whoever logs of a handler's own mistake. */
  reportHandlerError(thrown: unknown, method: string): void;
  /** The handler of a call has let go. */
  finished(reply: Reply, execution: Execution): void;
}

/** One running handler. */
export interface Execution extends SteeredCall {
  readonly host: ExecutionHost;
  readonly isStream: boolean;
  /** Aborts the handler, and tells the caller where the caller waits. */
  end(fault: Fault): void;
  /** The connection is down: what cannot survive that is aborted. */
  onDisconnect(): void;
}
