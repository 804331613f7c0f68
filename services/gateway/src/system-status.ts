import {
  type LeaseCounts,
  PartitionStatus,
  type ServiceStatus,
  SystemServiceStatusResponse,
  timestampFromMicros,
} from "@tenure/contracts";
import type { Incarnation, LogSize } from "@tenure/log";
import { systemAlarms } from "./system-alarms.ts";

/** The services without which the system does not serve. */
export const requiredServices = ["lease-store", "identity", "election", "migration"] as const;

/** What the status is made of. */
export interface SystemView {
  readonly version: string;
  readonly mode: string;
  readonly incarnation: Incarnation;
  /** Everyone who was heard of lately, this gateway included. */
  readonly instances: readonly ServiceStatus[];
  /** Leases by state; undefined while the log is not followed. */
  readonly leases: LeaseCounts | undefined;
  /** How full the log is; undefined if it could not be read. */
  readonly log: LogSize | undefined;
}

/** Why the system as a whole does not serve, one sentence for each service that is missing or not ready. */
export function missingServices(instances: readonly ServiceStatus[]): readonly string[] {
  return requiredServices.flatMap((service) => {
    const present = instances.filter((instance) => instance.service === service);
    if (present.some((instance) => instance.ready)) return [];
    if (present.length === 0) return [`${service}: no instance was heard of`];
    const reasons = [...new Set(present.flatMap((instance) => instance.notReadyReasons))];
    return [`${service}: ${reasons.length === 0 ? "not serving yet" : reasons.join("; ")}`];
  });
}

/** The whole system as one answer: what should run, what does, and why it is not ready if it is not. */
export function systemStatus(view: SystemView): SystemServiceStatusResponse {
  const { version, mode, incarnation, instances, leases, log } = view;
  const partitions = partitionsOf(incarnation.partitions, instances);
  const notReadyReasons = missingServices(instances);
  const names = new Set<string>([...requiredServices, "gateway", ...instances.map((instance) => instance.service)]);
  return SystemServiceStatusResponse.fromPartial({
    ready: notReadyReasons.length === 0,
    notReadyReasons,
    version,
    mode,
    incarnationId: incarnation.id,
    incarnationCreatedAt: timestampFromMicros(incarnation.createdAtMicros),
    services: [...names].map((service) => serviceGroup(service, instances)),
    partitions,
    alarms: systemAlarms(instances, partitions, log),
    ...(leases && { leases }),
  });
}

/** Every partition once: as its owner sees it, or without an owner if none is heard of. */
function partitionsOf(count: number, instances: readonly ServiceStatus[]): PartitionStatus[] {
  const owned = instances.flatMap(({ instance, partitions }) => partitions.filter(({ owner }) => owner === instance));
  const byNumber = new Map(
    owned.toSorted((left, right) => Number(left.epoch - right.epoch)).map((one) => [one.partition, one]),
  );
  return Array.from(
    { length: count },
    (_, partition) => byNumber.get(partition) ?? PartitionStatus.fromPartial({ partition }),
  );
}

function serviceGroup(service: string, all: readonly ServiceStatus[]) {
  const instances = all.filter((instance) => instance.service === service);
  const ready = instances.some((instance) => instance.ready);
  const silent = instances.length === 0 ? ["no instance was heard of"] : [];
  const notReadyReasons = ready ? [] : [...silent, ...instances.flatMap((instance) => instance.notReadyReasons)];
  return { service, ready, notReadyReasons: [...new Set(notReadyReasons)], instances };
}
