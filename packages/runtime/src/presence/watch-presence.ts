import { type Bus, presenceSubject, presenceWildcard } from "@tenure/bus";
import { ServiceStatus } from "@tenure/contracts";
import type { Clock, Timer } from "@tenure/kernel";
import { presenceIntervalMs } from "./presence.ts";

/** An instance that was silent for three announcements is taken for gone. */
export const silenceMs = 3 * presenceIntervalMs;

/** More instances than this are not remembered; no deployment comes near. */
const mostInstances = 4096;

/** Told who is there, by service and then instance, after each change. */
export type PresenceListener = (instances: readonly ServiceStatus[]) => void;

/** A view of who is there. Disposing of it ends the watch. */
export interface PresenceWatch extends Disposable {
  readonly instances: readonly ServiceStatus[];
}

interface Seen {
  readonly status: ServiceStatus;
  readonly content: Buffer;
  readonly silence: Timer | undefined;
}

/**
 * Follows every instance's announcements. While the watcher itself is cut off it hears nobody, so nobody is dropped
 * before the silence has lasted as long after its own return.
 */
export function watchPresence(
  bus: Pick<Bus, "connected" | "subscribe" | "onStatus">,
  clock: Clock,
  listener: PresenceListener,
): PresenceWatch {
  const watch = new Watch(bus, clock, listener);
  const unsubscribe = bus.subscribe(presenceWildcard(), (payload, subject) => watch.hear(payload, subject));
  const unfollow = bus.onStatus(() => watch.rearm());
  return {
    get instances() {
      return watch.instances;
    },
    [Symbol.dispose]() {
      unsubscribe();
      unfollow();
      watch.forget();
    },
  };
}

class Watch {
  readonly #bus: Pick<Bus, "connected">;
  readonly #clock: Clock;
  readonly #listener: PresenceListener;
  readonly #seen = new Map<string, Seen>();

  constructor(bus: Pick<Bus, "connected">, clock: Clock, listener: PresenceListener) {
    this.#bus = bus;
    this.#clock = clock;
    this.#listener = listener;
  }

  get instances(): readonly ServiceStatus[] {
    return [...this.#seen].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, { status }]) => status);
  }

  hear(payload: Uint8Array, subject: string): void {
    const status = decode(payload, subject);
    if (status === undefined) return;
    const before = this.#seen.get(subject);
    if (before === undefined ? this.#seen.size >= mostInstances : isOlder(status, before.status)) return;
    before?.silence?.cancel();
    const content = Buffer.from(ServiceStatus.encode({ ...status, sequence: 0n }).finish());
    this.#seen.set(subject, { status, content, silence: this.#arm(subject) });
    if (before === undefined || !before.content.equals(content)) this.#listener(this.instances);
  }

  /** Starts every instance's silence anew when the watcher itself has come back, and none while it is away. */
  rearm(): void {
    for (const [subject, seen] of this.#seen) {
      seen.silence?.cancel();
      this.#seen.set(subject, { ...seen, silence: this.#arm(subject) });
    }
  }

  forget(): void {
    for (const { silence } of this.#seen.values()) silence?.cancel();
    this.#seen.clear();
  }

  #arm(subject: string): Timer | undefined {
    if (!this.#bus.connected) return undefined;
    return this.#clock.schedule(silenceMs, () => {
      this.#seen.delete(subject);
      this.#listener(this.instances);
    });
  }
}

/** The subject is guarded by permissions, so a status that names another instance is not believed. */
function decode(payload: Uint8Array, subject: string): ServiceStatus | undefined {
  try {
    const status = ServiceStatus.decode(payload);
    return presenceSubject(status.service, status.instance) === subject ? status : undefined;
  } catch {
    return undefined;
  }
}

/** Older in the life of one process; another start of the same name is always news. */
function isOlder(status: ServiceStatus, than: ServiceStatus): boolean {
  const isSameLife =
    status.startedAt?.seconds === than.startedAt?.seconds && status.startedAt?.nanos === than.startedAt?.nanos;
  return isSameLife && status.sequence <= than.sequence;
}
