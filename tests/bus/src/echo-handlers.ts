import type { CallContext, Handlers } from "@tenure/bus";
import { Fault, type FaultDetails } from "@tenure/kernel";
import type { EchoDefinition, EchoResponse } from "./echo-service.ts";

/** Every detail that a fault can carry, with numbers beyond what a double holds. */
export const everyDetail: FaultDetails = {
  violations: [{ field: "text", rule: "must be kind", value: "unkind" }],
  lease: "billing/scheduler",
  holder: "b",
  token: 2n ** 53n + 1n,
  revision: 2n ** 63n - 1n,
  successor: "c",
  retryAfterMs: 1_500,
  applied: "NO",
  limit: { name: "leases", value: 10n },
  attributes: { partition: "3" },
};

/** Resolves with the reason when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<Fault> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    signal.addEventListener("abort", () => resolve(signal.reason), { once: true });
  });
}

/** The test service. What its handlers notice goes to `print`, because the caller may be gone by then. */
export function echoHandlers(print: (line: string) => void): Partial<Handlers<typeof EchoDefinition>> {
  const produced = new Map<string, number>();
  const answer = (text: string, count = 0): EchoResponse => ({ text, count, pid: process.pid });
  const produce = (text: string): EchoResponse => {
    const count = (produced.get(text) ?? 0) + 1;
    produced.set(text, count);
    return answer(text, count);
  };
  return {
    say: ({ text }) => answer(text),
    async describe(_request, context: CallContext) {
      return answer(JSON.stringify([context.method, context.principal, context.trace ?? null]), context.remainingMs());
    },
    refuse() {
      throw new Fault({ code: "ABORTED", reason: "UNKIND", message: "be kind", details: everyDetail });
    },
    async crash() {
      throw new RangeError("secret of the handler");
    },
    async hang({ text }, { signal }) {
      print(`hang ${text} started`);
      const fault = await aborted(signal);
      print(`hang ${text} aborted ${fault.code} ${fault.reason}`);
      throw fault;
    },
    inflate: ({ count }) => answer("x".repeat(count)),
    produced: ({ text }) => answer(text, produced.get(text) ?? 0),
    async *count({ text, count }) {
      for (let index = 0; index < count; index += 1) yield answer(text, index);
    },
    async *pour({ text }, { signal }) {
      try {
        while (!signal.aborted) yield produce(text);
      } finally {
        print(`pour ${text} let go`);
      }
    },
    async *watch({ text }, { signal }) {
      yield answer(text);
      const fault = await aborted(signal);
      print(`watch ${text} aborted ${fault.code} ${fault.reason}`);
    },
    async *countAndRefuse({ text, count }) {
      for (let index = 0; index < count; index += 1) yield answer(text, index);
      if (text === "crash") throw new RangeError("secret of the handler");
      throw new Fault({ code: "ABORTED", reason: "UNKIND", message: "be kind", details: everyDetail });
    },
    async *pourLarge({ count }) {
      yield answer("x".repeat(count));
    },
  };
}
