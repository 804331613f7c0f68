import type { Bus } from "@tenure/bus";
import { Fault } from "@tenure/kernel";
import type { JetStreamErrorReply } from "./js-errors.ts";

/** An answer of JetStream's API: a JSON object, with `error` when it refused. */
export interface JetStreamAnswer {
  readonly error?: JetStreamErrorReply;
}

const utf8 = new TextDecoder();
const encoder = new TextEncoder();

/**
 * Asks JetStream's API once and gives its answer, refusals included. Rejects with UNAVAILABLE, reason
 * JETSTREAM_UNAVAILABLE, when nobody answers in time: no leader, no connection. `doing` continues the words "cannot".
 */
export async function askOnce<Answer extends JetStreamAnswer>(
  bus: Bus,
  subject: string,
  body: object,
  question: { readonly doing: string; readonly timeoutMs: number },
): Promise<Answer> {
  if (!bus.connected) throw unanswered(question.doing, "not connected to NATS");
  try {
    const asking = bus.nats.request(subject, encoder.encode(JSON.stringify(body)), { timeout: question.timeoutMs });
    const reply = await unlessDisconnected(bus, asking);
    return JSON.parse(utf8.decode(reply.data)) as Answer;
  } catch (cause) {
    throw unanswered(question.doing, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

/** The client lets a request run to its timeout when the connection is lost; the answer cannot come any more. */
function unlessDisconnected<T>(bus: Bus, asking: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const unfollow = bus.onStatus((status) => {
      if (status !== "connected") reject(new Error("the connection was lost before the answer came"));
    });
    asking.then(resolve, reject).finally(unfollow);
  });
}

/** The fault of a refusal that the asker has no use for. */
export function refusedBy(doing: string, error: JetStreamErrorReply): Fault {
  const isPassing = error.code === 503 || error.code === 408;
  return new Fault({
    code: isPassing ? "UNAVAILABLE" : "INTERNAL",
    reason: isPassing ? "JETSTREAM_UNAVAILABLE" : "JETSTREAM_REFUSED",
    message: `cannot ${doing}: JetStream answered "${error.description ?? ""}" (error ${error.err_code ?? error.code})`,
  });
}

function unanswered(doing: string, why: string, cause?: unknown): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    reason: "JETSTREAM_UNAVAILABLE",
    message: `cannot ${doing}: no answer from a JetStream leader (${why})`,
    cause,
  });
}
