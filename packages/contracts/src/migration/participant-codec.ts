import { type LeaseKey, leaseKey } from "@tenure/core";
import type { LeaseKey as WireKey } from "../gen/tenure/v1/key.ts";
import { ControllerPlacement, MigrationParticipant } from "../gen/tenure/v1/migration_record.ts";
import { enumTable } from "../store/value/enums.ts";
import { leaseKeyToWire } from "../store/value/key.ts";
import { bytesOfHex, hexOf } from "../store/value/text.ts";

type Placement = "nonMigrated" | "migrated" | "unowned";

/** What a participant does with a controller. */
export const controllerPlacements = enumTable<Placement, ControllerPlacement>({
  nonMigrated: ControllerPlacement.NON_MIGRATED,
  migrated: ControllerPlacement.MIGRATED,
  unowned: ControllerPlacement.UNOWNED,
});

/** A participant as the rules of migrations see it. */
export interface ReportedParticipant {
  readonly instance: string;
  readonly release: { readonly component: string; readonly version: string };
  readonly primary: LeaseKey;
  readonly controllers: readonly {
    readonly name: string;
    readonly placement: Placement;
    readonly lock: LeaseKey | undefined;
  }[];
  /** Hexadecimal digests of the configurations that it runs with, by name. */
  readonly digests: ReadonlyMap<string, string>;
}

/** A participant as it reports itself; `tokens` are those of the controllers that run. */
export function reportToWire(
  { controllers, digests, instance, primary, release }: ReportedParticipant,
  configurationDigest: Uint8Array,
  tokens: ReadonlyMap<string, bigint>,
): MigrationParticipant {
  return MigrationParticipant.fromPartial({
    instance,
    participant: { ...release, configurationDigest },
    primary: leaseKeyToWire(primary),
    controllers: controllers.map(({ lock, name, placement }) => ({
      name,
      placement: controllerPlacements.toWire[placement],
      ...(lock === undefined ? {} : { lease: leaseKeyToWire(lock) }),
      running: tokens.has(name),
      token: tokens.get(name) ?? 0n,
    })),
    configurations: [...digests.keys()],
    configurationDigests: [...digests.values()].map(bytesOfHex),
  });
}

/** What a report says of its participant; the report was checked before it was kept. */
export function reportFromWire(wire: MigrationParticipant): ReportedParticipant {
  const { configurationDigests, configurations, controllers, instance, participant, primary } = wire;
  return {
    instance,
    release: { component: participant?.component ?? "", version: participant?.version ?? "" },
    primary: keyOf(primary),
    controllers: controllers.map(({ lease, name, placement }) => ({
      name,
      placement: controllerPlacements.fromWire[placement] ?? "unowned",
      lock: lease && keyOf(lease),
    })),
    digests: new Map(
      configurations.map((name, place) => [name, hexOf(configurationDigests[place] ?? new Uint8Array())]),
    ),
  };
}

function keyOf(key: WireKey | undefined): LeaseKey {
  return leaseKey(key?.namespace ?? "", key?.name ?? "");
}
