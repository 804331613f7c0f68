import type { Bus } from "@tenure/bus";
import {
  decodeRenewals,
  encodeRenewals,
  type Identity,
  type IdentityProfile,
  IdentityServiceRegisterRequest,
  type PackedRefusal,
} from "@tenure/contracts";
import { systemClock, systemRandom, type Timer } from "@tenure/kernel";
import { followOwnerBeats, OwnerRoutes, packedGroups, RenewalCoalescer, StoreCalls } from "@tenure/session";
import type { Deployment } from "@tenure/testkit";

type ProfileInput = Partial<IdentityProfile>;

/** Registers an instance over the bus. */
export async function register(
  deployment: Pick<Deployment, "identities">,
  profile: ProfileInput,
  more: Partial<Pick<IdentityServiceRegisterRequest, "id" | "instanceUid" | "renewKeyHash">> = {},
): Promise<Identity> {
  const request = IdentityServiceRegisterRequest.fromPartial({
    ...more,
    profile: { component: "worker", host: "host-1", processId: 1, ...profile },
  });
  const { identity } = await deployment.identities.register(request, { principal: "test", deadlineMs: 20_000 });
  if (identity === undefined) throw new Error("no identity was answered");
  return identity;
}

/** Instances that beat, many per message, from this process. */
export class Fleet implements Disposable {
  readonly #routes = new OwnerRoutes(8);
  readonly #calls: StoreCalls;
  readonly #renewals: RenewalCoalescer;
  readonly #unfollow: () => void;
  readonly #beating = new Map<string, Identity>();
  readonly #names = new Map<string, string>();
  readonly #client;
  #timer: Timer | undefined;
  #sends = 0;
  /** Beats that were committed and that were refused, by id. */
  readonly committed = new Map<string, number>();
  readonly refused = new Map<string, string>();

  constructor(bus: Bus, beatMs: number) {
    this.#unfollow = followOwnerBeats(bus, this.#routes);
    this.#calls = new StoreCalls({ bus, routes: this.#routes, clock: systemClock, random: systemRandom });
    this.#renewals = new RenewalCoalescer(this.#calls);
    this.#client = {
      clientId: "fleet",
      principal: "test",
      renewKeyHash: new Uint8Array(0),
      onRenewed: (acks: Uint8Array) => this.#onRenewed(acks),
      onRefused: (refusals: readonly PackedRefusal[]) => {
        for (const { failure, holdId, partition } of refusals) {
          const id = this.#names.get(`${partition}.${holdId}`);
          if (id !== undefined && failure?.code !== 14) this.refused.set(id, failure?.message ?? "");
        }
      },
    };
    this.#schedule(beatMs);
  }

  /** Has an instance beat from now on. */
  add(identity: Identity): void {
    this.#beating.set(identity.id, identity);
    this.#names.set(`${identity.partition}.${identity.holdId}`, identity.id);
  }

  /** Silences an instance, as if its process were gone. */
  silence(id: string): void {
    this.#beating.delete(id);
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
    this.#unfollow();
    this.#calls[Symbol.dispose]();
  }

  #schedule(beatMs: number): void {
    this.#timer = systemClock.schedule(beatMs, () => {
      this.#beat();
      this.#schedule(beatMs);
    });
  }

  #beat(): void {
    this.#sends += 1;
    const byPartition = new Map<number, number[]>();
    for (const { holdId, partition } of this.#beating.values()) {
      const holdIds = byPartition.get(partition) ?? [];
      holdIds.push(Number(holdId));
      byPartition.set(partition, holdIds);
    }
    const groups = [...byPartition].map(([partition, holdIds]) => ({
      partition,
      sendNumber: this.#sends,
      holdIds: holdIds.sort((left, right) => left - right),
    }));
    if (groups.length > 0) this.#renewals.renew(this.#client, packedGroups(encodeRenewals(groups)));
  }

  #onRenewed(acks: Uint8Array): void {
    for (const { holdIds, partition } of decodeRenewals(acks)) {
      for (const holdId of holdIds) {
        const id = this.#names.get(`${partition}.${holdId}`);
        if (id !== undefined) this.committed.set(id, (this.committed.get(id) ?? 0) + 1);
      }
    }
  }
}
