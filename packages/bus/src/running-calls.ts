import { NumberedItems } from "@tenure/kernel";
import { callerOf, type Reply } from "./reply.ts";

/** Callers whose last call is over are kept for their next one, up to this many. */
const mostIdleCallers = 1_000;

/** Running calls by their replies. Those that come in batches, which are most, cost no text and no entry of a map. */
export class RunningCalls<Call extends object> {
  readonly #alone = new Map<string, Call>();
  readonly #packed = new Map<string, NumberedItems<Call>>();

  /** Takes a call in, unless one of the same reply runs. */
  add(reply: Reply, call: Call): void {
    if (this.#get(reply) !== undefined) return;
    if (typeof reply === "string") this.#alone.set(reply, call);
    else this.#callsOf(reply.caller).set(reply.number, call);
  }

  /** Takes a call out; harmless when it is not there. */
  delete(reply: Reply, call: Call): void {
    if (typeof reply === "string") {
      if (this.#alone.get(reply) === call) this.#alone.delete(reply);
      return;
    }
    const calls = this.#packed.get(reply.caller);
    if (calls?.get(reply.number) !== call) return;
    calls.delete(reply.number);
    if (calls.size === 0 && this.#packed.size > mostIdleCallers) this.#packed.delete(reply.caller);
  }

  /** The call that a reply subject names. */
  named(subject: string): Call | undefined {
    const caller = callerOf(subject);
    return this.#alone.get(subject) ?? this.#get({ caller, number: Number(subject.slice(caller.length)) });
  }

  /** All of them as they are now. */
  get all(): readonly Call[] {
    const packed = [...this.#packed.values()].flatMap((calls) => calls.entries().map(([, call]) => call));
    return [...this.#alone.values(), ...packed];
  }

  #get(reply: Reply): Call | undefined {
    return typeof reply === "string" ? this.#alone.get(reply) : this.#packed.get(reply.caller)?.get(reply.number);
  }

  #callsOf(caller: string): NumberedItems<Call> {
    const known = this.#packed.get(caller);
    if (known !== undefined) return known;
    const calls = new NumberedItems<Call>();
    this.#packed.set(caller, calls);
    return calls;
  }
}
