import { StoreServiceDefinition } from "./gen/tenure/store/v1/store.ts";
import { CandidateServiceDefinition } from "./gen/tenure/v1/candidate.ts";
import { ElectionServiceDefinition } from "./gen/tenure/v1/election.ts";
import { GuardServiceDefinition } from "./gen/tenure/v1/guard.ts";
import { IdentityServiceDefinition } from "./gen/tenure/v1/identity.ts";
import { LeaseServiceDefinition } from "./gen/tenure/v1/lease.ts";
import { MigrationServiceDefinition } from "./gen/tenure/v1/migration.ts";
import { SessionServiceDefinition } from "./gen/tenure/v1/session.ts";
import { SystemServiceDefinition } from "./gen/tenure/v1/system.ts";

/** The services that the gateway offers to everyone, by full name. */
export const publicServices = {
  "tenure.v1.CandidateService": CandidateServiceDefinition,
  "tenure.v1.ElectionService": ElectionServiceDefinition,
  "tenure.v1.GuardService": GuardServiceDefinition,
  "tenure.v1.IdentityService": IdentityServiceDefinition,
  "tenure.v1.LeaseService": LeaseServiceDefinition,
  "tenure.v1.MigrationService": MigrationServiceDefinition,
  "tenure.v1.SessionService": SessionServiceDefinition,
  "tenure.v1.SystemService": SystemServiceDefinition,
} as const;

/** The services that the product's own processes offer each other on the bus and the gateway does not, by full name. */
export const internalServices = {
  "tenure.store.v1.StoreService": StoreServiceDefinition,
} as const;

/** The last part of a service's full name: the token that stands for it in bus subjects and session calls. */
export function simpleServiceName(fullName: string): string {
  return fullName.slice(fullName.lastIndexOf(".") + 1);
}
