import { serve } from "@tenure/bus";
import { echoHandlers } from "./echo-handlers.ts";
import { EchoDefinition } from "./echo-service.ts";
import { connectTestBus } from "./test-bus.ts";

/** The serving process: `node echo-process.js <url> [route]`. It prints `ready`, then what its handlers notice. */
function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const [url = "", route] = process.argv.slice(2);
const bus = await connectTestBus(url, "echo-server");
bus.onStatus((status) => print(`bus ${status}`));
const server = serve(bus, EchoDefinition, echoHandlers(print), {
  route,
  onHandlerError: (error, { method }) => print(`handler of ${method} failed: ${String(error)}`),
});
process.once("SIGTERM", () => {
  void server
    .stop()
    .then(() => bus.drain())
    .then(() => print("stopped"));
});
await bus.flush();
print("ready");
