import type { OwnedPartition } from "../partition/batch.ts";
import type { Command } from "../partition/command.ts";
import { isOutcome } from "../partition/reply.ts";
import { decideAccept } from "./accept.ts";
import { decideAcquire } from "./acquire.ts";
import { clientKey, digestOf, recallAttempt } from "./attempt.ts";
import {
  decideRegisterCandidate,
  decideSetCordon,
  decideSetPriority,
  decideUpdateCandidate,
  decideWithdrawCandidate,
} from "./candidate.ts";
import { decideAckCandidates, decideCollectCandidate, decidePingCandidates } from "./candidate-life.ts";
import { decideCreate } from "./create.ts";
import { answer, caused, type Decision } from "./decision.ts";
import { decideRecordDecision } from "./decision-record.ts";
import { decideCollectLease, decideDelete } from "./delete.ts";
import { decideElect } from "./elect.ts";
import { decideClearEndOfTerm, decideMarkEndOfTerm } from "./end-of-term.ts";
import { decideExpire } from "./expire.ts";
import { decideGuard } from "./guard.ts";
import { decidePutMigration } from "./migration.ts";
import { decideOwner } from "./owner.ts";
import { decideRelease } from "./release.ts";
import { decideRenew } from "./renew.ts";
import { decideRevoke, decideSteal } from "./revoke.ts";
import { decidePutStrategy } from "./strategy.ts";
import { decideUpdate } from "./update.ts";

/**
 * What a command does to a partition at the owner's instant `now`, in monotonic ms. Total: expected refusals are
 * replies. It changes nothing itself; the open batch's earlier events must have been applied. A duplicate of an attempt
 * gets the recorded outcome and no second effect (rule 4); refusals are not recorded, because they changed nothing.
 */
export function decide(owned: OwnedPartition, command: Command, now: number): Decision {
  const { attempt } = command;
  if (attempt === undefined) return decideNew(owned, command, now);
  const known = recallAttempt(owned.state, command, attempt);
  if (known !== undefined) return answer(known);
  return remember(command, decideNew(owned, command, now));
}

/** Adds the fact that records what an attempt did. */
export function remember(command: Command, decision: Decision): Decision {
  const { attempt } = command;
  const { events, reply } = decision;
  if (attempt === undefined || events.length === 0 || !isOutcome(reply)) return decision;
  const recorded = caused(command, {
    kind: "attemptRecorded",
    client: clientKey(command.principal, attempt.clientId),
    number: attempt.number,
    settledBelow: attempt.settledBelow,
    digest: digestOf(command),
    outcome: reply,
  });
  return { events: [...events, recorded], reply };
}

function decideNew(owned: OwnedPartition, command: Command, now: number): Decision {
  switch (command.kind) {
    case "create":
      return decideCreate(owned, command, now);
    case "update":
      return decideUpdate(owned, command, now);
    case "delete":
      return decideDelete(owned, command);
    case "putStrategy":
      return decidePutStrategy(owned, command, now);
    case "putMigration":
      return decidePutMigration(owned, command, now);
    case "recordDecision":
      return decideRecordDecision(owned, command);
    case "collectLease":
      return decideCollectLease(owned, command, now);
    case "acquire":
      return decideAcquire(owned, command, now);
    case "renew":
      return decideRenew(owned, command, now);
    case "release":
      return decideRelease(owned, command, now);
    case "elect":
      return decideElect(owned, command, now);
    case "accept":
      return decideAccept(owned, command, now);
    case "markEndOfTerm":
      return decideMarkEndOfTerm(owned, command, now);
    case "clearEndOfTerm":
      return decideClearEndOfTerm(owned, command);
    case "revoke":
      return decideRevoke(owned, command);
    case "steal":
      return decideSteal(owned, command, now);
    case "expire":
      return decideExpire(owned, command, now);
    case "registerCandidate":
      return decideRegisterCandidate(owned, command);
    case "updateCandidate":
      return decideUpdateCandidate(owned, command);
    case "ackCandidates":
      return decideAckCandidates(owned, command);
    case "pingCandidates":
      return decidePingCandidates(owned, command);
    case "withdrawCandidate":
      return decideWithdrawCandidate(owned, command);
    case "setPriority":
      return decideSetPriority(owned, command);
    case "setCordon":
      return decideSetCordon(owned, command);
    case "collectCandidate":
      return decideCollectCandidate(owned, command, now);
    case "guard":
      return decideGuard(owned, command);
    default:
      return decideOwner(owned, command, now);
  }
}
