import { systemClock } from "@tenure/kernel";
import type { Tenure } from "@tenure/sdk";

/** The controller that moves. */
export const controller = "route";
/** The lock under which it runs while it moves. */
const migrationName = "route-migration";

/** The document that lets both components run it, one after the other. */
export const migrationDocument = `kind: LeaderMigrationConfiguration
apiVersion: controllermanager.config.k8s.io/v1
leaderName: ${migrationName}
controllerLeaders:
  - name: ${controller}
    component: "*"
`;

/** A controller manager of one component that takes part in the migration; what it tells goes to `tell`. */
export function startManager(tenure: Tenure, name: string, version: string, tell: (text: string) => void): Manager {
  const stop = new AbortController();
  const leader = { name: controller, component: "*", versionRange: "" };
  const migration = {
    name: migrationName,
    apiVersion: "controllermanager.config.k8s.io/v1",
    controllerLeaders: [leader],
  };
  let isRunning = false;
  const manager = tenure.controllerManager({ name, version, lease: name, migration, leaseDuration: "5s" });
  manager.add({
    name: controller,
    async start(term) {
      isRunning = true;
      tell(`${controller} runs in ${name} ${version} with token ${term.token}`);
      while (!term.signal.aborted) {
        await term.guard.put("journal", `${name} ${version}`).catch(() => undefined);
        await systemClock.sleep(500, term.signal).catch(() => undefined);
      }
    },
    stop() {
      isRunning = false;
      tell(`${controller} stops in ${name}`);
    },
  });
  const done = manager.run(stop.signal);
  return {
    get isRunning() {
      return isRunning;
    },
    async stop() {
      stop.abort();
      await done;
    },
  };
}

/** A controller manager that was started. */
export interface Manager {
  /** Whether the controller runs in it. */
  readonly isRunning: boolean;
  /** Stops the controller, gives its locks back, and resolves when that is done. */
  stop(): Promise<void>;
}
