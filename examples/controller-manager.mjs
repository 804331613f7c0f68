// A controller manager whose controllers can move to another component while both run:
//   node examples/controller-manager.mjs COMPONENT VERSION NODE CONTROLLER,CONTROLLER... [--endpoint host:port]
//     [--namespace kube-system] [--lease-duration 15s] [--coordinated]
//     [--exit-on-loss] [--enable-leader-migration] [--leader-migration-config FILE]
// It prints one line of JSON per decision and per guarded write, with the machine's monotonic clock.
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { connect, migrationFlags } from "@tenure/sdk";

const argv = process.argv.slice(2);
const { values, positionals } = parseArgs({
  options: {
    endpoint: { type: "string", default: "127.0.0.1:8368" },
    namespace: { type: "string", default: "kube-system" },
    "lease-duration": { type: "string", default: "15s" },
    coordinated: { type: "boolean" },
    "exit-on-loss": { type: "boolean" },
    "enable-leader-migration": { type: "boolean" },
    "leader-migration-config": { type: "string" },
  },
  allowPositionals: true,
});
const [name = "manager", version = "1.0.0", node = "a", controllers = "route,service"] = positionals;
const nowNs = () => String(process.hrtime.bigint());
const plain = (_, value) => (typeof value === "bigint" ? String(value) : value);
const say = (line) => console.log(JSON.stringify({ atNs: nowNs(), ...line }, plain));
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop.abort());

const migration = migrationFlags(argv);
const tenure = await connect({
  endpoint: values.endpoint,
  identity: `${name}-${version}-${node}`,
  namespace: values.namespace,
  timing: { leaseDuration: values["lease-duration"] },
  connectTimeout: "60s",
  callTimeout: "60s",
});
const manager = tenure.controllerManager({
  name,
  version,
  lease: name,
  migration,
  coordinated: values.coordinated,
  exitOnLoss: values["exit-on-loss"],
  onEvent: say,
});
for (const controller of controllers.split(",")) {
  manager.add({
    name: controller,
    start: async (term) => {
      while (!term.signal.aborted) {
        const sentNs = nowNs();
        try {
          // Accepted only while no newer term of this controller was granted, in whichever component, under whichever lock.
          const revision = await term.guard.put("journal", `${name} ${version} on ${node}`);
          say({ kind: "wrote", controller, token: term.token, sentNs, revision });
        } catch (error) {
          if (!error.retryable) throw error;
        }
        await pause(200, undefined, { signal: term.signal }).catch(() => {});
      }
    },
  });
}
say({ kind: "up" });
await manager.run(stop.signal);
await tenure.close();
