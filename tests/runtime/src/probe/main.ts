import { writeFileSync } from "node:fs";
import { Fault } from "@tenure/kernel";
import { defineConfig, runService, type ServiceContext } from "@tenure/runtime";

/** What the probe is told to do wrong. */
const fields = defineConfig({
  misbehave: {
    kind: "choice",
    choices: ["no", "refuse-start", "hang-start", "hang-stop", "fail-stop", "throw", "reject"],
    default: "no",
    doc: "What goes wrong: in start, in stop, or a while after start.",
  },
  password: { kind: "secret", doc: "Must never be seen." },
  stopMarker: { kind: "path", doc: "File that is written while the service stops, with what it can still see." },
});

await runService({ name: "probe", summary: "A service that does nothing but live and stop.", fields, start });

async function start(context: ServiceContext<typeof fields>): Promise<AsyncDisposable> {
  const { config, log, http } = context;
  log.info({ password: config.password, text: `got ${config.password}` }, "probe starts");
  http.route("/crash", () => crash(config.misbehave));
  if (config.misbehave === "refuse-start") {
    throw new Fault({ code: "FAILED_PRECONDITION", reason: "PROBE", message: "the probe will not start: ask nicely" });
  }
  if (config.misbehave === "hang-start") await new Promise(() => {});
  return { [Symbol.asyncDispose]: () => stop(context) };
}

/** Fails outside of any request: the next turn of the event loop belongs to nobody. */
function crash(misbehave: string): void {
  setImmediate(() => {
    if (misbehave === "throw") throw new TypeError("the probe has a bug");
    void Promise.reject(new Fault({ code: "INTERNAL", reason: "PROBE", message: "the probe forgot a promise" }));
  });
}

/** Writes down what an orderly stop promises: not ready any more, and still connected. */
async function stop({ bus, config, health, log }: ServiceContext<typeof fields>): Promise<void> {
  log.info({ ready: health.ready, connected: bus.connected }, "probe stops");
  if (config.stopMarker !== undefined) writeFileSync(config.stopMarker, JSON.stringify(health.unmet));
  if (config.misbehave === "hang-stop") await new Promise(() => {});
  if (config.misbehave === "fail-stop") throw new Error("the probe could not stop");
}
