/** How one protobuf message becomes bytes and back: the part of a generated codec that the bus uses. */
export interface MessageCodec<Message> {
  encode(message: Message): { finish(): Uint8Array };
  decode(input: Uint8Array): Message;
}

/** One method of a generated service definition. */
export interface MethodDefinition {
  /** The name in the .proto file, for example `Acquire`; it is a token of the call's subject. */
  readonly name: string;
  readonly requestType: MessageCodec<unknown>;
  /** Methods whose caller streams are not carried by the bus: the gateway serves them. */
  readonly requestStream: boolean;
  readonly responseType: MessageCodec<unknown>;
  readonly responseStream: boolean;
}

/** A generated service definition (ts-proto's generic definitions have this shape). */
export interface ServiceDefinition {
  /** The simple name, for example `LeaseService`; it is a token of every subject of the service. */
  readonly name: string;
  readonly fullName: string;
  readonly methods: Readonly<Record<string, MethodDefinition>>;
}

/** The message that a codec decodes. */
export type MessageOf<Codec> = Codec extends { decode(input: Uint8Array): infer Message } ? Message : never;

/** The request message of a method. */
export type RequestOf<Method extends MethodDefinition> = MessageOf<Method["requestType"]>;

/** The response message of a method, or one item of its stream. */
export type ResponseOf<Method extends MethodDefinition> = MessageOf<Method["responseType"]>;

/** The keys of the methods that the bus carries: one request, and one response or a stream of them. */
export type BusMethod<Definition extends ServiceDefinition> = {
  [Key in keyof Definition["methods"]]: Definition["methods"][Key]["requestStream"] extends false ? Key : never;
}[keyof Definition["methods"]];
