import { connectBus } from "@tenure/bus";
import { systemClock, systemRandom } from "@tenure/kernel";

/** A codec whose message is its bytes: the benchmark measures the bus, not protobuf. */
const bytesCodec = { encode: (message) => ({ finish: () => message }), decode: (input) => input };

/** One unary method that gives its request back, and one stream of `count` items of `size` bytes. */
export const EchoDefinition = {
  name: "EchoBench",
  fullName: "tenure.bench.EchoBench",
  methods: {
    say: method("Say", false),
    count: method("Count", true),
  },
};

function method(name, responseStream) {
  return { name, requestType: bytesCodec, requestStream: false, responseType: bytesCodec, responseStream };
}

export function connect(url, user) {
  return connectBus({
    servers: [url],
    name: `bench ${user}`,
    inboxPrefix: `_INBOX_${user}`,
    clock: systemClock,
    random: systemRandom,
    connectTimeoutMs: 10_000,
  });
}
