import { type Bus, presenceSubject } from "@tenure/bus";
import { ServiceState, ServiceStatus } from "@tenure/contracts";
import type { Clock, Timer } from "@tenure/kernel";
import type { Health } from "../health.ts";

/** How often an instance says that it is there, and at each change besides. */
export const presenceIntervalMs = 1000;

/** What a service says about itself beyond what the runtime knows. */
export type PresenceDetails = Partial<
  Pick<ServiceStatus, "alarms" | "serves" | "incarnationId" | "partitions" | "grpcAddress">
>;

/** Who is present, and what tells whether it is ready. */
export interface PresenceOptions {
  readonly bus: Pick<Bus, "connected" | "publish" | "onStatus">;
  readonly clock: Clock;
  readonly health: Health;
  readonly service: string;
  readonly instance: string;
  readonly version: string;
  /** When the process started, by its wall clock, in milliseconds; for people. */
  readonly startedAtMs: number;
  readonly httpAddress: string;
}

/**
 * Announces one instance each second, and at once when its readiness, its state or its connection changes. An
 * announcement that cannot be sent is dropped: the next one says more.
 */
export class Presence {
  readonly #options: PresenceOptions;
  readonly #subject: string;
  readonly #sources: (() => PresenceDetails)[] = [];
  readonly #unsubscribe: readonly (() => void)[];
  #state: ServiceState = ServiceState.STARTING;
  #sequence = 0n;
  #timer: Timer | undefined;

  constructor(options: PresenceOptions) {
    this.#options = options;
    this.#subject = presenceSubject(options.service, options.instance);
    this.#unsubscribe = [
      options.health.onChange(() => this.#announce()),
      options.bus.onStatus((status) => {
        if (status === "connected") this.#announce();
      }),
    ];
    this.#announce();
    this.#beat();
  }

  /** Adds to every announcement what `source` gives when it is made. */
  describe(source: () => PresenceDetails): void {
    this.#sources.push(source);
    this.#announce();
  }

  /** The instance serves from now on. */
  serving(): void {
    this.#state = ServiceState.SERVING;
    this.#announce();
  }

  /** The instance takes nothing new from now on. */
  stopping(): void {
    this.#state = ServiceState.STOPPING;
    this.#announce();
  }

  /** Announces for the last time, as stopping. Watchers forget the instance when it has been silent for a while. */
  stop(): void {
    this.#timer?.cancel();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.stopping();
  }

  #beat(): void {
    this.#timer = this.#options.clock.schedule(presenceIntervalMs, () => {
      this.#announce();
      this.#beat();
    });
  }

  #announce(): void {
    const { bus } = this.#options;
    if (!bus.connected) return;
    this.#sequence += 1n;
    const bytes = ServiceStatus.encode(this.#status()).finish();
    try {
      bus.publish(this.#subject, bytes);
    } catch {
      // The connection was lost between the check and the publish; the next beat after it is back says the same.
    }
  }

  #status(): ServiceStatus {
    const { health, service, instance, version, startedAtMs, httpAddress } = this.#options;
    const isServing = this.#state === ServiceState.SERVING;
    return ServiceStatus.fromPartial({
      service,
      instance,
      version,
      startedAt: { seconds: BigInt(Math.floor(startedAtMs / 1000)), nanos: Math.floor(startedAtMs % 1000) * 1_000_000 },
      state: this.#state,
      ready: isServing && health.ready,
      notReadyReasons: health.unmet.map(({ condition, why }) => `${condition}: ${why}`),
      httpAddress,
      sequence: this.#sequence,
      ...this.#sources.reduce<PresenceDetails>((details, source) => Object.assign(details, source()), {}),
    });
  }
}
