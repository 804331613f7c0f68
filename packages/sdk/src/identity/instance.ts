import { type Identity, IdentityLiveness, IdentitySelector, LabelOperator } from "@tenure/contracts";

/** Whether an instance is alive, as the answering server sees it. */
export type InstanceLiveness = "live" | "silent" | "expired" | "gone";

/** An instance of a component, as others see it. */
export interface Instance {
  readonly id: string;
  readonly component: string;
  readonly version: string;
  readonly host: string;
  readonly processId: number;
  readonly zone: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly capabilities: readonly string[];
  readonly addresses: readonly string[];
  readonly liveness: InstanceLiveness;
  /** Fresh for every start of the process. */
  readonly instanceUid: string;
  readonly token: bigint;
  /** Whether another process claims the same id at present. */
  readonly isColliding: boolean;
}

/** Which instances. What is absent selects all. */
export interface InstanceSelector {
  readonly component?: string | undefined;
  readonly zone?: string | undefined;
  /** Only those with all of these labels. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Only those with all of these capabilities. */
  readonly capabilities?: readonly string[] | undefined;
  /** Only those that are so alive; `["live"]` unless given. */
  readonly liveness?: readonly InstanceLiveness[] | undefined;
}

const livenesses: Readonly<Record<InstanceLiveness, IdentityLiveness>> = {
  live: IdentityLiveness.LIVE,
  silent: IdentityLiveness.SILENT,
  expired: IdentityLiveness.EXPIRED,
  gone: IdentityLiveness.GONE,
};
const words: ReadonlyMap<IdentityLiveness, InstanceLiveness> = new Map(
  Object.entries(livenesses).map(([word, wire]) => [wire, word as InstanceLiveness]),
);

/** The living unless the caller says otherwise. */
export const livingOnly: readonly InstanceLiveness[] = ["live"];

/** The selector as the service takes it, for the given liveness. */
export function selectorToWire(selector: InstanceSelector, liveness: readonly InstanceLiveness[]): IdentitySelector {
  const requirements = Object.entries(selector.labels ?? {}).map(([key, value]) => ({
    key,
    operator: LabelOperator.IN,
    values: [value],
  }));
  return IdentitySelector.fromPartial({
    component: selector.component ?? "",
    zone: selector.zone ?? "",
    labels: { requirements },
    capabilities: [...(selector.capabilities ?? [])],
    liveness: liveness.map((word) => livenesses[word]),
  });
}

/** An identity as applications see it. */
export function instanceOf(identity: Identity): Instance {
  const { collision, id, instanceUid, profile, token } = identity;
  return {
    id,
    component: profile?.component ?? "",
    version: profile?.version ?? "",
    host: profile?.host ?? "",
    processId: profile?.processId ?? 0,
    zone: profile?.zone ?? "",
    labels: profile?.labels ?? {},
    capabilities: profile?.capabilities ?? [],
    addresses: profile?.addresses ?? [],
    liveness: words.get(identity.liveness) ?? "gone",
    instanceUid,
    token,
    isColliding: collision !== undefined,
  };
}
