import { Client, type ClientDuplexStream, credentials, type ServiceError } from "@grpc/grpc-js";
import {
  decodeStatusDetails,
  faultFromFailure,
  SessionServiceSessionRequest,
  SessionServiceSessionResponse,
} from "@tenure/contracts";
import { Fault } from "@tenure/kernel";
import type { Method } from "./schema.ts";

/** A way of calling: bytes out, bytes or a fault back. */
export interface Carrier extends Disposable {
  call(method: Pick<Method, "name" | "path">, request: Uint8Array): Promise<Uint8Array | Fault>;
}

const pass = (bytes: Buffer): Buffer => bytes;
const deadlineMs = 60_000;

/** Plain calls, as any gRPC client makes them. */
export class UnaryCarrier implements Carrier {
  readonly #client: Client;

  constructor(endpoint: string) {
    this.#client = new Client(endpoint, credentials.createInsecure());
  }

  call({ path }: Pick<Method, "path">, request: Uint8Array): Promise<Uint8Array | Fault> {
    const deadline = Date.now() + deadlineMs;
    return new Promise((resolve) => {
      this.#client.makeUnaryRequest(path, pass, pass, Buffer.from(request), { deadline }, (error, response) =>
        resolve(error === null ? (response ?? new Uint8Array()) : faultOf(error)),
      );
    });
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }
}

/** The typed fault behind a gRPC error; one without our details is not typed, and says so. */
function faultOf(error: ServiceError): Fault {
  const [details] = error.metadata.get("grpc-status-details-bin");
  if (details !== undefined) return decodeStatusDetails(details as Buffer);
  return new Fault({ code: "INTERNAL", reason: "UNTYPED", message: error.message });
}

/** Calls of one session. */
export class SessionCarrier implements Carrier {
  readonly #client: Client;
  readonly #stream: ClientDuplexStream<Buffer, Buffer>;
  readonly #open = new Map<bigint, (answer: Uint8Array | Fault) => void>();
  #sendNumber = 0n;
  #callNumber = 0n;

  constructor(endpoint: string, clientId: string) {
    this.#client = new Client(endpoint, credentials.createInsecure());
    this.#stream = this.#client.makeBidiStreamRequest("/tenure.v1.SessionService/Session", pass, pass);
    this.#stream.on("data", (bytes: Buffer) => this.#receive(SessionServiceSessionResponse.decode(bytes)));
    this.#stream.on("error", (error: ServiceError) => this.#fail(faultOf(error)));
    // Silent between two calls for as long as the test likes.
    const patience = { seconds: 60n, nanos: 0 };
    this.#send({ hello: { clientId, beatInterval: patience, requestTimeout: patience } });
  }

  call({ name }: Pick<Method, "name">, request: Uint8Array): Promise<Uint8Array | Fault> {
    this.#callNumber += 1n;
    const number = this.#callNumber;
    return new Promise((resolve) => {
      this.#open.set(number, resolve);
      this.#send({ calls: [{ number, method: name, request }] });
    });
  }

  [Symbol.dispose](): void {
    this.#stream.cancel();
    this.#client.close();
  }

  #send(message: Parameters<typeof SessionServiceSessionRequest.fromPartial>[0]): void {
    this.#sendNumber += 1n;
    const full = SessionServiceSessionRequest.fromPartial({ ...message, sendNumber: this.#sendNumber });
    this.#stream.write(Buffer.from(SessionServiceSessionRequest.encode(full).finish()));
  }

  #receive({ replies }: SessionServiceSessionResponse): void {
    for (const { number, outcome } of replies) {
      const answer = this.#open.get(number);
      this.#open.delete(number);
      if (outcome?.$case === "failure") answer?.(faultFromFailure(outcome.value));
      else answer?.(outcome?.$case === "response" ? outcome.value.slice() : new Uint8Array());
    }
  }

  #fail(fault: Fault): void {
    for (const answer of this.#open.values()) answer(fault);
    this.#open.clear();
  }
}
