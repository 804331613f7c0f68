import {
  type MigrationParticipant,
  putMigrationCommand,
  reportToWire,
  StoreServicePutMigrationRequest,
} from "@tenure/contracts";
import {
  type CommandBody,
  commitBatch,
  defaultLeaseSpec,
  emptyPartition,
  execute,
  type LeaseKey,
  openBatch,
  ownPartition,
  type Reply,
} from "@tenure/core";
import { FakeClock, Fault } from "@tenure/kernel";
import { digestOfAll, type MigrationConfiguration, participantOf } from "@tenure/migration-rules";
import { WatchHub } from "@tenure/reader";
import { MigrationDirectory } from "../directory/migration-directory.ts";
import { configurationToWire, eligibilityOf } from "../record/configuration-record.ts";
import { participantAnnotations, participantLease } from "../record/participant-record.ts";

/** Where everything takes place. */
export const namespace = "system";

/** A configuration: `controller: [component, versions]` each. */
export function configuration(
  name: string,
  leaders: Readonly<Record<string, readonly [component: string, versionRange: string]>>,
): MigrationConfiguration {
  const controllerLeaders = Object.entries(leaders).map(([controller, [component, versionRange]]) => ({
    name: controller,
    component,
    versionRange,
  }));
  return { name, apiVersion: "tenure.dev/v1", controllerLeaders };
}

/** What an instance of a release, such as `kube 1.21.0`, reports. */
export function reportOf(
  release: string,
  controllers: readonly string[],
  configurations: readonly MigrationConfiguration[] = [],
): MigrationParticipant {
  const [component = "", version = ""] = release.split(" ");
  const own = { instance: `${component}-1`, release: { component, version }, primary: `${namespace}/${component}` };
  return reportToWire(participantOf({ ...own, configurations }, controllers), digestOfAll(configurations), new Map());
}

/** One partition and what the service reads from it, without a network: commands are decided and told as in a store. */
export class LogOfOne {
  readonly clock = new FakeClock();
  readonly directory: MigrationDirectory;
  /** Alarms that began and ended since they were last taken. */
  #news: string[] = [];
  readonly #owned = ownPartition(emptyPartition(0, this.clock.now()), this.clock.now(), this.clock.wall());
  readonly #hub = new WatchHub({ clock: this.clock, partitions: 1, keptChanges: 0, pendingBatches: 100 });
  #sequence = 0n;

  constructor() {
    const { state } = this.#owned;
    this.#hub.onFollowing(state);
    const source = { clock: this.clock, partitions: 1, hub: this.#hub, stateOf: () => state };
    this.directory = new MigrationDirectory(source);
    this.directory.follow({
      onChanged: () => undefined,
      onAlarm: (_namespace, { controller, kind }, hasEnded) =>
        void this.#news.push(`${kind} ${controller} ${hasEnded ? "ended" : "began"}`),
    });
    this.run({ kind: "takeOver", epoch: 1n, owner: "store", isHandedOver: false });
  }

  takeNews(): readonly string[] {
    const taken = this.#news;
    this.#news = [];
    return taken;
  }

  run(command: CommandBody): Reply {
    const { state } = this.#owned;
    const { events } = openBatch(this.#owned, this.clock.now(), this.clock.wall());
    const reply = execute(this.#owned, { ...command, principal: "migration" }, this.clock.now());
    if (events.length === 0) return reply;
    this.#sequence += 1n;
    commitBatch(this.#owned, this.#sequence, `batch-${this.#sequence}`);
    this.#hub.onApplied({ partition: 0, sequence: this.#sequence, events, state });
    this.#hub.onTailed(this.#sequence, true);
    return reply;
  }

  /** Puts a configuration in force, as Apply does. */
  apply(configuration: MigrationConfiguration): Reply {
    const wire = configurationToWire(configuration, namespace, { isCoordinated: false, document: "" });
    const { lock } = wire;
    const request = StoreServicePutMigrationRequest.fromPartial({
      ...(lock && { lock }),
      configuration: wire,
      eligibility: eligibilityOf(configuration),
    });
    const command = putMigrationCommand(request, "ann");
    if (command instanceof Fault) throw command;
    return this.run(command);
  }

  /** Claims a lease as a participant; the answer of the store. */
  claim(lease: LeaseKey, { instance, participant }: MigrationParticipant, spec = defaultLeaseSpec): Reply {
    const { component = "", configurationDigest = new Uint8Array(), version = "" } = participant ?? {};
    const digest = Buffer.from(configurationDigest).toString("hex");
    const claimant = { holder: instance, participant: { component, version, configurationDigest: digest } };
    const claims = [{ lease, mode: "exclusive", units: 1, spec } as const];
    return this.run({ kind: "acquire", claims, claimant, sendNumber: 1n });
  }

  join(report: MigrationParticipant): void {
    this.claim(participantLease(report), report, { ...defaultLeaseSpec, annotations: participantAnnotations(report) });
  }

  release(lease: LeaseKey): void {
    const token = this.directory.recordOf(lease)?.holds[0]?.token ?? 0n;
    this.run({ kind: "release", items: [{ lease, token }] });
  }
}
