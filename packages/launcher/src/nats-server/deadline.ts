import { type Clock, Fault } from "@tenure/kernel";

/** A signal that aborts by itself after a bound, or with an outer signal; disposing it ends the wait. */
export interface BoundedSignal extends Disposable {
  readonly signal: AbortSignal;
}

/** Bounds a wait by `timeoutMs` on `clock`, and by the caller's own signal. */
export function boundedSignal(clock: Clock, timeoutMs: number, outer?: AbortSignal): BoundedSignal {
  const controller = new AbortController();
  const timer = clock.schedule(timeoutMs, () => {
    const message = `no answer within ${timeoutMs / 1000} s`;
    controller.abort(new Fault({ code: "DEADLINE_EXCEEDED", reason: "TIMED_OUT", message }));
  });
  const signal = outer === undefined ? controller.signal : AbortSignal.any([outer, controller.signal]);
  return { signal, [Symbol.dispose]: () => timer.cancel() };
}
