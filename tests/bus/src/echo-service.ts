import type { MessageCodec } from "@tenure/bus";

/** What every method of the test service takes. */
export interface EchoRequest {
  readonly text: string;
  /** How many items, or bytes, to give back. */
  readonly count: number;
}

/** What every method of the test service gives. */
export interface EchoResponse {
  readonly text: string;
  readonly count: number;
  /** The process that answered. */
  readonly pid: number;
}

/** Messages as JSON, in the shape of a generated codec; like one, it throws on bytes that are no message. */
function jsonCodec<Message>(): MessageCodec<Message> {
  return {
    encode: (message) => ({ finish: () => new TextEncoder().encode(JSON.stringify(message)) }),
    decode: (input) => JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(input)) as Message,
  };
}

const EchoRequest = jsonCodec<EchoRequest>();
const EchoResponse = jsonCodec<EchoResponse>();

function unary<const Name extends string>(name: Name) {
  return {
    name,
    requestType: EchoRequest,
    requestStream: false,
    responseType: EchoResponse,
    responseStream: false,
    options: {},
  } as const;
}

function streaming<const Name extends string>(name: Name) {
  return { ...unary(name), responseStream: true } as const;
}

/** A service definition as the code generator writes it; its methods do what their names say. */
export const EchoDefinition = {
  name: "EchoService",
  fullName: "tenure.test.EchoService",
  methods: {
    /** Gives the text back, with the process that answered. */
    say: unary("Say"),
    /** Gives back what the context says: principal, trace and remaining time. */
    describe: unary("Describe"),
    /** Throws a Fault with every detail. */
    refuse: unary("Refuse"),
    /** Throws something that is no Fault. */
    crash: unary("Crash"),
    /** Waits until its signal is aborted, and prints why. */
    hang: unary("Hang"),
    /** Gives back `count` bytes. */
    inflate: unary("Inflate"),
    /** How many items the streams with that text have produced. */
    produced: unary("Produced"),
    /** Nobody serves it. */
    unserved: unary("Unserved"),
    /** Yields `count` items and ends. */
    count: streaming("Count"),
    /** Yields without end, as fast as it is pulled. */
    pour: streaming("Pour"),
    /** Yields one item, then waits until its signal is aborted, and prints why. */
    watch: streaming("Watch"),
    /** Yields `count` items, then throws a Fault, or something else when the text is `crash`. */
    countAndRefuse: streaming("CountAndRefuse"),
    /** Yields one item of `count` bytes. */
    pourLarge: streaming("PourLarge"),
    /** The caller streams too: not carried by the bus. */
    talk: { ...streaming("Talk"), requestStream: true },
  },
} as const;
