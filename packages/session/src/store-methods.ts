import type { Bus } from "@tenure/bus";
import {
  CandidateServiceDefinition,
  GuardServiceDefinition,
  LeaseServiceDefinition,
  StoreServiceDefinition,
} from "@tenure/contracts";
import { byteStarts, type StartBytes } from "./byte-service.ts";

/** What has to be known of a method of the store to bring it to the right owner. */
export interface StoreMethod {
  /** Where the request has the lease's key: field numbers from the request to the `LeaseKey`. Absent: any replica. */
  readonly keyPath?: readonly number[];
  /** Whether it changes something, and so carries an attempt as its field 1. */
  readonly isChange: boolean;
}

const change = (...keyPath: number[]): StoreMethod => ({ keyPath, isChange: true });
const read = (...keyPath: number[]): StoreMethod => ({ keyPath, isChange: false });
/** Of many partitions, or of none: any replica brings each part to its owner. */
const anywhere: StoreMethod = { isChange: false };

/** Every unary method of the services that the lease store serves to everyone, as `<Service>.<Method>`. */
export const storeMethods: ReadonlyMap<string, StoreMethod> = new Map([
  ["LeaseService.Acquire", change(2, 1)],
  ["LeaseService.Accept", change(2, 1)],
  ["LeaseService.Renew", anywhere],
  ["LeaseService.Release", change(2, 1)],
  ["LeaseService.Get", read(1)],
  ["LeaseService.List", anywhere],
  ["LeaseService.Create", change(2)],
  ["LeaseService.Update", change(2)],
  ["LeaseService.Delete", change(2)],
  ["LeaseService.Revoke", change(2)],
  ["LeaseService.Steal", change(2)],
  ["LeaseService.History", read(1)],
  ["GuardService.Get", read(1)],
  ["GuardService.List", read(1)],
  ["GuardService.Put", change(2, 1)],
  ["GuardService.Delete", change(2, 1)],
  ["GuardService.Transact", change(2, 1)],
  ["CandidateService.Register", change(2, 1)],
  ["CandidateService.Update", change(2, 1)],
  ["CandidateService.Ack", anywhere],
  ["CandidateService.Withdraw", change(2, 1)],
  ["CandidateService.SetPriority", change(2, 1)],
  ["CandidateService.Cordon", change(2, 1)],
  ["CandidateService.Uncordon", change(2, 1)],
  ["CandidateService.Get", read(1, 1)],
  ["CandidateService.List", anywhere],
]);

/** The services that the lease store serves to everyone. */
export const storeDefinitions = [LeaseServiceDefinition, GuardServiceDefinition, CandidateServiceDefinition] as const;

/** What is asked of a partition's owner by partition and not by key, as `<Service>.<Method>`. */
export function ownerMethods(bus: Bus): ReadonlyMap<string, StartBytes> {
  const methods = new Map<string, StartBytes>();
  for (const [definition, names] of [
    [StoreServiceDefinition, ["Renew", "Beat", "Ping", "Elect", "MarkEndOfTerm", "PutStrategy", "RecordDecision"]],
    [LeaseServiceDefinition, ["Renew"]],
  ] as const) {
    const starts = byteStarts(bus, definition);
    for (const name of names) {
      const start = starts.get(name);
      if (start !== undefined) methods.set(`${definition.name}.${name}`, start);
    }
  }
  return methods;
}
