import { createClient } from "@tenure/bus";
import { EchoDefinition } from "./echo-service.ts";
import { connectTestBus } from "./test-bus.ts";

/** A calling process that can be killed: it opens the stream Watch named `<text>`. */
const [url = "", text = "", beatMs = "1000"] = process.argv.slice(2);
const bus = await connectTestBus(url, "echo-watcher");
const client = createClient(bus, EchoDefinition, { beatMs: Number(beatMs) });
for await (const item of client.watch({ text, count: 0 })) process.stdout.write(`got ${item.text}\n`);
