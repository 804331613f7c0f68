import {
  type AnswerView,
  acceptCommand,
  acceptResponse,
  acquireCommand,
  acquireResponse,
  CandidateServiceDefinition,
  changedCandidateResponse,
  changedLeaseResponse,
  collectCommand,
  collectResponse,
  cordonCommand,
  createCommand,
  deleteCommand,
  deleteResponse,
  electCommand,
  GuardServiceDefinition,
  guardDeleteCommand,
  guardDeleteResponse,
  guardPutCommand,
  guardTransactCommand,
  guardWriteResponse,
  LeaseServiceDefinition,
  markEndOfTermCommand,
  pingCommand,
  pingResponse,
  putMigrationCommand,
  putMigrationResponse,
  putStrategyCommand,
  recordDecisionCommand,
  recordDecisionResponse,
  registerCandidateCommand,
  releaseCommand,
  releaseResponse,
  revokeCommand,
  StoreServiceDefinition,
  setPriorityCommand,
  stealCommand,
  stealResponse,
  uncordonCommand,
  updateCandidateCommand,
  updateCommand,
  withdrawCandidateCommand,
  withdrawResponse,
} from "@tenure/contracts";
import type { Command, Reply } from "@tenure/core";
import type { Fault } from "@tenure/kernel";
import { compiled } from "./compiled-strategy.ts";

/** A method that is one command to the owner of one partition. */
export interface OwnerMethod<Request, Response> {
  command(request: Request, principal: string): Command | Fault;
  respond(reply: Reply, view: AnswerView): Response | Fault;
}

type RequestOf<Method> = Method extends { readonly requestType: { decode(bytes: Uint8Array): infer Request } }
  ? Request
  : never;
type ResponseOf<Method> = Method extends { readonly responseType: { decode(bytes: Uint8Array): infer Response } }
  ? Response
  : never;

/** The owner methods of a service, by the name that its definition gives them. */
export type OwnerMethods<Definition extends { readonly methods: object }> = {
  readonly [Key in keyof Definition["methods"]]?: OwnerMethod<
    RequestOf<Definition["methods"][Key]>,
    ResponseOf<Definition["methods"][Key]>
  >;
};

function methods<Definition extends { readonly methods: object }>(
  _definition: Definition,
  table: OwnerMethods<Definition>,
): OwnerMethods<Definition> {
  return table;
}

/** Changes of leases and terms. */
export const leaseMethods = methods(LeaseServiceDefinition, {
  acquire: { command: acquireCommand, respond: acquireResponse },
  accept: { command: acceptCommand, respond: acceptResponse },
  release: { command: releaseCommand, respond: releaseResponse },
  create: { command: createCommand, respond: changedLeaseResponse },
  update: { command: updateCommand, respond: changedLeaseResponse },
  delete: { command: deleteCommand, respond: deleteResponse },
  revoke: { command: revokeCommand, respond: changedLeaseResponse },
  steal: { command: stealCommand, respond: stealResponse },
});

/** Guarded writes. */
export const guardMethods = methods(GuardServiceDefinition, {
  put: { command: guardPutCommand, respond: guardWriteResponse },
  delete: { command: guardDeleteCommand, respond: guardDeleteResponse },
  transact: { command: guardTransactCommand, respond: guardWriteResponse },
});

/** Changes of candidates. */
export const candidateMethods = methods(CandidateServiceDefinition, {
  register: { command: compiled(registerCandidateCommand), respond: changedCandidateResponse },
  update: { command: compiled(updateCandidateCommand), respond: changedCandidateResponse },
  withdraw: { command: withdrawCandidateCommand, respond: withdrawResponse },
  setPriority: { command: setPriorityCommand, respond: changedCandidateResponse },
  cordon: { command: cordonCommand, respond: changedCandidateResponse },
  uncordon: { command: uncordonCommand, respond: changedCandidateResponse },
});

/** What coordinators ask. */
export const storeMethods = methods(StoreServiceDefinition, {
  ping: { command: pingCommand, respond: pingResponse },
  elect: { command: electCommand, respond: changedLeaseResponse },
  markEndOfTerm: { command: markEndOfTermCommand, respond: changedLeaseResponse },
  putStrategy: { command: putStrategyCommand, respond: changedLeaseResponse },
  recordDecision: { command: recordDecisionCommand, respond: recordDecisionResponse },
  putMigration: { command: putMigrationCommand, respond: putMigrationResponse },
  collect: { command: collectCommand, respond: collectResponse },
});
