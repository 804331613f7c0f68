import { type Clock, Fault } from "@tenure/kernel";

/** How often readiness is asked for. */
const askEveryMs = 100;

/** How long one answer may take. */
const askLimitMs = 5_000;

/** How long a system may take to serve; a slow machine's first start takes a few seconds. */
const limitMs = 90_000;

/** Resolves when the whole system serves. Rejects with the reasons it gives when it does not in time. */
export async function waitUntilReady(httpPort: number, clock: Clock, signal: AbortSignal): Promise<void> {
  const giveUpMs = clock.now() + limitMs;
  let answer = "the gateway does not answer yet";
  while (clock.now() < giveUpMs) {
    const reply = await ask(`http://127.0.0.1:${httpPort}/readyz`, signal);
    if (reply?.ok === true) return;
    if (reply !== undefined) answer = (await reply.text()).trim();
    await clock.sleep(askEveryMs, signal);
  }
  const message = `the system did not become ready within ${limitMs / 1000} s: ${answer}`;
  throw new Fault({ code: "DEADLINE_EXCEEDED", reason: "NOT_READY", message });
}

async function ask(url: string, signal: AbortSignal): Promise<Response | undefined> {
  try {
    return await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(askLimitMs)]) });
  } catch {
    signal.throwIfAborted();
    return undefined; // Nobody listens there yet.
  }
}
