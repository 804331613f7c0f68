import type { LeaseKey } from "@tenure/core";
import { nameOf, namespaceOf } from "@tenure/core";
import { Fault } from "@tenure/kernel";
import type { Admission } from "@tenure/session";
import type { Policy } from "./policy.ts";
import { methodRights, type RightsScope, type Target, type Verb } from "./rights.ts";

/** A call that was denied. */
export interface Denial {
  readonly principal: string;
  readonly method: string;
  readonly verb: Verb;
  /** `*` for a call about all of them. */
  readonly namespace: string;
  /** Empty for a call about all of them, and with `*` at its end for one about all that begin so. */
  readonly name: string;
}

/** What judgement stands on. */
export interface JudgeOptions extends RightsScope {
  readonly policy: Policy;
  /** What a running term belongs to; undefined while this process has not heard of it. */
  termOf(partition: number, holdId: number): { readonly lease: LeaseKey } | undefined;
  /** Told of every call that was denied. */
  onDenied(denial: Denial): void;
}

/** Packed renewals are judged as what they stand for. */
const renewal = "LeaseService.Renew";

/** Longer than any name that exists; a request may have one of any length. */
const shownCharacters = 300;

/** The one place where calls are judged by the policy: plain ones, those on sessions, messages of streams and renewals. */
export class Judge implements Admission {
  readonly #options: JudgeOptions;
  readonly #rights: ReturnType<typeof methodRights>;

  constructor(options: JudgeOptions) {
    this.#options = options;
    this.#rights = methodRights(options);
  }

  admit(principal: string, method: string, request: Uint8Array): void {
    const right = this.#rights.get(method);
    if (right === undefined) throw new Error(`the table of rights has no ${method}`);
    if (right.verb === undefined) return;
    const grants = this.#options.policy.grantsOf(principal);
    for (const target of right.targetsOf(request)) {
      if (!grants.allows(right.verb, target)) throw this.#deny(principal, method, right.verb, target);
    }
  }

  refuseRenewal(principal: string, partition: number, holdId: number): Fault | "unknown" | undefined {
    const { policy, termOf } = this.#options;
    const lease = termOf(partition, holdId)?.lease;
    if (lease === undefined) return "unknown";
    const target = { namespace: namespaceOf(lease), name: nameOf(lease) };
    if (policy.grantsOf(principal).allows("lead", target)) return undefined;
    return this.#deny(principal, renewal, "lead", target);
  }

  #deny(principal: string, method: string, verb: Verb, target: Target): Fault {
    const namespace = shown(target.namespace) || "*";
    const name = `${shown(target.name ?? "")}${target.isPrefix === true ? "*" : ""}`;
    this.#options.onDenied({ principal, method, verb, namespace, name });
    const what = name === "" ? `namespace ${namespace}` : `${namespace}/${name}`;
    return new Fault({
      code: "PERMISSION_DENIED",
      reason: "NOT_ALLOWED",
      message: `${method} needs ${verb} on ${what}, and no rule of the gateway's policy allows it to ${principal}`,
      details: { applied: "NO", attributes: { principal, verb, namespace, name } },
    });
  }
}

function shown(text: string): string {
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text;
}
