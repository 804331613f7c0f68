import { serve } from "@tenure/bus";
import { connect, EchoDefinition } from "./echo.mjs";

/** The serving process of the benchmarks: `node server.mjs <url>`. */
const bus = await connect(process.argv[2], "bench-server");
serve(bus, EchoDefinition, {
  say: (request) => request,
  async *count(request) {
    const view = Buffer.from(request);
    const total = view.readUInt32BE(0);
    const item = new Uint8Array(view.readUInt32BE(4));
    for (let index = 0; index < total; index += 1) yield item;
  },
});
process.send?.("ready");
