import { once } from "node:events";
import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  type ServiceError,
} from "@grpc/grpc-js";
import {
  decodeStatusDetails,
  faultFromFailure,
  type PackedRefusal,
  publicServices,
  type SessionCall,
  type SessionPush,
  type SessionReply,
  SessionServiceSessionRequest,
  SessionServiceSessionResponse,
} from "@tenure/contracts";
import type { Fault } from "@tenure/kernel";
import { waitFor } from "@tenure/testkit";

interface Codec<Message> {
  encode(message: Message): { finish(): Uint8Array };
  decode(bytes: Uint8Array): Message;
}

/** One method of a service, with its codecs. */
export interface Method<Request, Response> {
  readonly name: string;
  readonly requestType: Codec<Request>;
  readonly responseType: Codec<Response>;
}

const pass = (bytes: Buffer): Buffer => bytes;

/** The typed fault behind a gRPC error, from its standard details trailer. */
export function faultOf(error: unknown): Fault {
  const [details] = (error as ServiceError).metadata.get("grpc-status-details-bin");
  return decodeStatusDetails(details as Buffer);
}

/** A session over gRPC that a test drives message by message. */
export class TestSession implements Disposable {
  readonly #client: Client;
  readonly #stream: ClientDuplexStream<Buffer, Buffer>;
  readonly clientId: string;
  readonly messages: SessionServiceSessionResponse[] = [];
  readonly replies: SessionReply[] = [];
  readonly refusals: PackedRefusal[] = [];
  readonly pushes: SessionPush[] = [];
  readonly acks: Uint8Array[] = [];
  error: ServiceError | undefined;
  isEnded = false;
  sendNumber = 0n;
  callNumber = 0n;

  constructor(address: string, clientId: string, channel: ChannelCredentials = credentials.createInsecure()) {
    this.clientId = clientId;
    this.#client = new Client(address, channel);
    this.#stream = this.#client.makeBidiStreamRequest("/tenure.v1.SessionService/Session", pass, pass);
    this.#stream.on("data", (bytes: Buffer) => this.#receive(SessionServiceSessionResponse.decode(bytes)));
    this.#stream.on("error", (error: ServiceError) => {
      this.error = error;
    });
    this.#stream.on("end", () => {
      this.isEnded = true;
    });
  }

  /** Opens a session and waits for its welcome. */
  static async open(
    address: string,
    clientId: string,
    hello: object = {},
    channel?: ChannelCredentials,
  ): Promise<TestSession> {
    const session = new TestSession(address, clientId, channel);
    session.send({ hello: { clientId, ...hello } });
    await waitFor(() => session.messages[0]?.welcome !== undefined || session.error !== undefined);
    return session;
  }

  /** Sends one message with the next number, which it returns. */
  send(message: Parameters<typeof SessionServiceSessionRequest.fromPartial>[0]): bigint {
    this.sendNumber += 1n;
    const full = SessionServiceSessionRequest.fromPartial({ ...message, sendNumber: this.sendNumber });
    this.sendRaw(Buffer.from(SessionServiceSessionRequest.encode(full).finish()));
    return this.sendNumber;
  }

  /** Sends bytes as they are. */
  sendRaw(bytes: Buffer): void {
    this.#stream.write(bytes);
  }

  /** Begins a call and gives its number. */
  begin<Request>(
    service: keyof typeof publicServices,
    method: Method<Request, unknown>,
    request: Request,
    more: Partial<SessionCall> = {},
  ): bigint {
    this.callNumber += 1n;
    const call = {
      number: this.callNumber,
      method: `${publicServices[service].name}.${method.name}`,
      request: method.requestType.encode(request).finish(),
      ...more,
    };
    this.send({ calls: [call] });
    return this.callNumber;
  }

  /** Calls once; rejects with the fault of its reply. */
  async call<Request, Response>(
    service: keyof typeof publicServices,
    method: Method<Request, Response>,
    request: Request,
    more: Partial<SessionCall> = {},
  ): Promise<Response> {
    return this.response(this.begin(service, method, request, more), method);
  }

  /** The answer of a call that was begun. */
  async response<Response>(number: bigint, method: Pick<Method<never, Response>, "responseType">): Promise<Response> {
    const reply = await this.replyOf(number);
    if (reply.outcome?.$case === "response") return method.responseType.decode(reply.outcome.value);
    if (reply.outcome?.$case === "failure") throw faultFromFailure(reply.outcome.value);
    throw new Error("a unary call was answered with nothing");
  }

  /** The first reply of a call. */
  async replyOf(number: bigint): Promise<SessionReply> {
    await waitFor(() => this.replies.some((reply) => reply.number === number) || this.error !== undefined, {
      describe: `the reply of call ${number}`,
    });
    const found = this.replies.find((reply) => reply.number === number);
    if (found === undefined) throw this.error;
    return found;
  }

  /** Closes this side and waits for the other. */
  async close(): Promise<void> {
    const ended = once(this.#stream, "end");
    this.#stream.end();
    await ended;
  }

  [Symbol.dispose](): void {
    this.#stream.cancel();
    this.#client.close();
  }

  #receive(message: SessionServiceSessionResponse): void {
    this.messages.push(message);
    this.replies.push(...message.replies);
    this.refusals.push(...message.refusals);
    this.pushes.push(...message.pushes);
    if (message.renewalAcks.length > 0) this.acks.push(message.renewalAcks);
  }
}

/** How a plain call is made. */
export interface CallWay {
  readonly channel?: ChannelCredentials;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A plain unary call as any gRPC client makes it. */
export function callUnary<Request, Response>(
  address: string,
  service: keyof typeof publicServices,
  method: Method<Request, Response>,
  request: Request,
  deadlineMs = 30_000,
  { channel = credentials.createInsecure(), headers = {} }: CallWay = {},
): Promise<Response> {
  const client = new Client(address, channel);
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return new Promise<Response>((resolve, reject) => {
    client.makeUnaryRequest(
      `/${service}/${method.name}`,
      (message: Request) => Buffer.from(method.requestType.encode(message).finish()),
      (bytes: Buffer) => method.responseType.decode(bytes),
      request,
      metadata,
      { deadline: Date.now() + deadlineMs },
      (error, response) => (error === null ? resolve(response as Response) : reject(error)),
    );
  }).finally(() => client.close());
}
