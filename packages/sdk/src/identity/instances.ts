import {
  IdentityChange,
  type IdentityEvent,
  IdentityServiceListRequest,
  IdentityServiceWatchRequest,
  WatchMarkKind,
} from "@tenure/contracts";
import { Backoff, JoinedSignal } from "@tenure/kernel";
import { isHopeless, toTenureError } from "../errors.ts";
import type { Session } from "../session/session.ts";
import { type Instance, type InstanceSelector, instanceOf, livingOnly, selectorToWire } from "./instance.ts";

/** What happened to an instance. */
export interface InstanceChange {
  readonly change: "present" | "joined" | "live" | "silent" | "left" | "collected" | "changed";
  /** The instance after the change; its last state if it is gone. */
  readonly instance: Instance;
}

/** How instances are followed. */
export interface WatchInstancesOptions {
  /** Aborting it ends the iteration. */
  readonly signal?: AbortSignal | undefined;
}

const pageSize = 5_000;
const retry = { firstMs: 100, limitMs: 5_000 };

const changeWords: ReadonlyMap<IdentityChange, InstanceChange["change"]> = new Map([
  [IdentityChange.PRESENT, "present"],
  [IdentityChange.JOINED, "joined"],
  [IdentityChange.LIVE, "live"],
  [IdentityChange.SILENT, "silent"],
  [IdentityChange.LEFT, "left"],
  [IdentityChange.COLLECTED, "collected"],
  [IdentityChange.CHANGED, "changed"],
]);

/** Instances of components, the living unless told otherwise. */
export class Instances {
  readonly #session: Session;
  readonly #selector: InstanceSelector;
  readonly #closing: AbortSignal;

  constructor(session: Session, selector: InstanceSelector, closing: AbortSignal) {
    this.#session = session;
    this.#selector = selector;
    this.#closing = closing;
  }

  /** All that match, in order of id. */
  async list(): Promise<readonly Instance[]> {
    const selector = selectorToWire(this.#selector, this.#selector.liveness ?? livingOnly);
    const found: Instance[] = [];
    let token = "";
    do {
      const request = IdentityServiceListRequest.fromPartial({ selector, page: { size: pageSize, token } });
      const { identities, page } = await this.#session.call("IdentityService.List", request);
      found.push(...identities.map(instanceOf));
      token = page?.nextToken ?? "";
    } while (token !== "");
    return found;
  }

  /**
   * Those that match, whatever their liveness, as `present`, and then every change. Begins anew by itself after a
   * break: what happened meanwhile is told as its result, so that whoever keeps a list of them keeps the right one.
   */
  async *watch(options: WatchInstancesOptions = {}): AsyncGenerator<InstanceChange, void, undefined> {
    using ending = new JoinedSignal([options.signal, this.#closing]);
    const { signal } = ending;
    const selector = selectorToWire(this.#selector, ["live", "silent", "expired"]);
    const request = IdentityServiceWatchRequest.fromPartial({ selector });
    const backoff = new Backoff(retry, this.#session.random);
    const told = new Told();
    while (!signal.aborted) {
      try {
        for await (const { events, position } of this.#session.stream("IdentityService.Watch", request, { signal })) {
          backoff.reset();
          for (const event of events) yield* told.changesOf(event);
          if (position?.mark?.kind === WatchMarkKind.SYNCED) yield* told.finishState();
        }
      } catch (thrown) {
        if (signal.aborted) return;
        const error = toTenureError(thrown);
        if (isHopeless(error) || error.code === "CANCELLED") throw error;
      }
      told.restart();
      await this.#session.clock.sleep(backoff.next(), signal).catch(() => undefined);
    }
  }
}

/** What a watcher has been told, so that a stream that begins anew repeats nothing. */
class Told {
  readonly #known = new Map<string, Instance>();
  /** The ids of the present state that is being told; undefined when it is complete. */
  #seen: Set<string> | undefined = new Set();
  #isFirst = true;

  /** The stream broke: the next one begins with the present state. */
  restart(): void {
    this.#seen = new Set();
  }

  *changesOf({ change, identity }: IdentityEvent): Generator<InstanceChange, void, undefined> {
    if (identity === undefined) return;
    const instance = instanceOf(identity);
    const word = changeWords.get(change) ?? "changed";
    if (word === "present") {
      this.#seen?.add(instance.id);
      yield* this.#present(instance);
      return;
    }
    if (word === "left" || word === "collected") {
      if (this.#known.delete(instance.id)) yield { change: word, instance };
      return;
    }
    const known = this.#known.has(instance.id);
    this.#known.set(instance.id, instance);
    yield { change: known || word === "joined" ? word : "joined", instance };
  }

  /** The present state is complete: who is not in it has gone while nobody listened. */
  *finishState(): Generator<InstanceChange, void, undefined> {
    const seen = this.#seen;
    this.#seen = undefined;
    this.#isFirst = false;
    if (seen === undefined) return;
    for (const [id, instance] of this.#known) {
      if (seen.has(id)) continue;
      this.#known.delete(id);
      yield { change: "left", instance: { ...instance, liveness: "gone" } };
    }
  }

  *#present(instance: Instance): Generator<InstanceChange, void, undefined> {
    const known = this.#known.get(instance.id);
    this.#known.set(instance.id, instance);
    if (known === undefined) yield { change: this.#isFirst ? "present" : "joined", instance };
    else if (known.token !== instance.token) yield { change: "changed", instance };
    else if (known.liveness !== instance.liveness) {
      yield { change: instance.liveness === "live" ? "live" : "silent", instance };
    }
  }
}
