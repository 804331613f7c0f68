import { type CollectionState, HoldBackReason } from "@tenure/contracts";
import { type CollectionDecision, collectionDecision, type HoldBack } from "@tenure/core";
import { Fault, randomBase58 } from "@tenure/kernel";
import type { CollectorPorts } from "./collector-ports.ts";
import { expiredOf } from "./dead-identities.ts";

type Ports = Pick<
  CollectorPorts,
  "clock" | "directory" | "listener" | "policy" | "random" | "reader" | "storeBackAtMs"
>;

interface Present {
  readonly reason: HoldBack;
  readonly id: string;
}

const reasons: Readonly<Record<HoldBack, HoldBackReason>> = {
  tooManyDead: HoldBackReason.TOO_MANY_DEAD,
  storeRecovered: HoldBackReason.STORE_RECOVERED,
  justStarted: HoldBackReason.JUST_STARTED,
};

/** Whether collection holds back, under which name, and the operator's word that lets it go on. */
export class HoldBacks {
  readonly #ports: Ports;
  #present: Present | undefined;
  /** The hold-back that an operator let go on. */
  #wordFor = "";

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** The present one, as operators see it. */
  get state(): Pick<CollectionState, "holdBack" | "holdBackId"> {
    const { id = "", reason } = this.#present ?? {};
    return { holdBack: reason === undefined ? HoldBackReason.UNSPECIFIED : reasons[reason], holdBackId: id };
  }

  /** What is due now, and whether to hold back. */
  decide(): CollectionDecision {
    const { reader, storeBackAtMs } = this.#ports;
    const hasWord = this.#hasWord();
    const decision = this.#decisionBy(hasWord, reader.liveSinceMs, storeBackAtMs());
    // A hold-back that an operator let go on lasts, under its name, until there are no longer too many dead.
    if (decision.holdBack !== undefined || !hasWord || !this.#isTooMany()) this.#set(decision.holdBack);
    return decision;
  }

  /** Lets a hold-back go on; FAILED_PRECONDITION when it is another one, or over. */
  goOn(holdBackId: string, reason: string, principal: string): void {
    this.decide();
    if (this.#present?.id !== holdBackId) throw noSuchHoldBack(holdBackId, this.#present?.id ?? "");
    if (this.#present.reason !== "tooManyDead") throw notNow(this.#present);
    this.#wordFor = holdBackId;
    this.#ports.listener.onWord(holdBackId, reason, principal);
  }

  /** Throws COLLECTION_HELD_BACK while it holds back and nobody let it go on. */
  assertNone(): void {
    if (this.#present === undefined || this.#hasWord()) return;
    const { directory } = this.#ports;
    throw heldBack(this.#present, expiredOf(directory).length, directory.total);
  }

  /** Forgets the present one: this replica no longer collects. */
  clear(): void {
    this.#set(undefined);
  }

  #hasWord(): boolean {
    return this.#present !== undefined && this.#wordFor === this.#present.id;
  }

  #isTooMany(): boolean {
    return this.#decisionBy(false, Number.NEGATIVE_INFINITY, undefined).holdBack !== undefined;
  }

  #decisionBy(mayGoOn: boolean, watchingSinceMs: number | undefined, storeBackAtMs: number | undefined) {
    const { clock, directory, policy } = this.#ports;
    const sight = { now: clock.now(), total: directory.total, expired: expiredOf(directory) };
    return collectionDecision(policy, { ...sight, watchingSinceMs, storeBackAtMs, mayGoOn });
  }

  #set(reason: HoldBack | undefined): void {
    if (this.#present?.reason === reason) return;
    const { directory, listener, random } = this.#ports;
    this.#present = reason === undefined ? undefined : { reason, id: randomBase58(random, 8) };
    this.#wordFor = "";
    listener.onHoldBack(reason, this.#present?.id ?? "", expiredOf(directory).length, directory.total);
  }
}

function noSuchHoldBack(asked: string, present: string): Fault {
  const now = present === "" ? "collection does not hold back" : `the present one is ${present}`;
  return refused(`hold-back ${asked} is over: ${now}`);
}

function notNow({ id, reason }: Present): Fault {
  return refused(
    `hold-back ${id} (${reason}) ends by itself when everybody has had time to beat: it cannot be let go on`,
  );
}

function heldBack({ id, reason }: Present, dead: number, total: number): Fault {
  const counts = `${dead} of ${total} identities look dead`;
  const message = `collection holds back (${reason}): ${counts}; to go on, name hold-back ${id}`;
  return refused(message, { holdBackId: id, dead: String(dead), total: String(total) });
}

function refused(message: string, attributes: Readonly<Record<string, string>> = {}): Fault {
  return new Fault({
    code: "FAILED_PRECONDITION",
    reason: "COLLECTION_HELD_BACK",
    message,
    details: { applied: "NO", attributes },
  });
}
