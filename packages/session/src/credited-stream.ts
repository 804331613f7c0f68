import { Fault, toFault } from "@tenure/kernel";

/** Responses that may be under way when the client says nothing, as the API has it. */
const defaultCredit = 16;
/** More at once would only fill memory. */
const mostCredit = 65_536;

/** A server stream of a session. */
export interface CreditedStream {
  /** Room for more responses. */
  grant(responses: number): void;
  /** Nothing more is said of it. */
  cancel(): void;
}

/** Passes the items of a stream on while the client has room for them; then tells how it ended, once. */
export function pumpStream(
  open: (signal: AbortSignal) => AsyncIterable<Uint8Array>,
  credit: number,
  item: (value: Uint8Array) => void,
  end: (fault: Fault | undefined) => void,
): CreditedStream {
  const abort = new AbortController();
  let room = Math.min(credit === 0 ? defaultCredit : credit, mostCredit);
  let wake: (() => void) | undefined;
  let isOver = false;
  const pump = async () => {
    for await (const value of open(abort.signal)) {
      if (isOver) return;
      room -= 1;
      item(value);
      while (room === 0 && !isOver) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (isOver) return;
    }
  };
  const finish = (fault?: Fault) => {
    if (!isOver) end(fault);
  };
  pump().then(
    () => finish(),
    (thrown: unknown) => finish(toFault(thrown)),
  );
  return {
    grant(responses) {
      room = Math.min(room + responses, mostCredit);
      wake?.();
    },
    cancel() {
      isOver = true;
      abort.abort(gone());
      wake?.();
    },
  };
}

function gone(): Fault {
  return new Fault({ code: "CANCELLED", reason: "CANCELLED", message: "the caller has given the stream up" });
}
