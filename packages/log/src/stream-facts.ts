import type { StreamInfo } from "@nats-io/jetstream";
import { incarnationMetadataKey } from "./streams.ts";

/** A stream as the server describes it: the settings that safety rests on, and its present state. */
export interface StreamFacts {
  readonly name: string;
  readonly subjects: readonly string[];
  readonly storage: "file" | "memory";
  readonly replicas: number;
  /** Replicas that are up to date right now, the leader included; absent on a single server. */
  readonly currentReplicas?: number;
  readonly retention: "limits" | "interest" | "workqueue";
  readonly discard: "old" | "new";
  readonly denyDelete: boolean;
  readonly denyPurge: boolean;
  readonly allowDirect: boolean;
  /** Whether single messages may carry a time to live. */
  readonly allowMessageTtl: boolean;
  /** 0: no limit. */
  readonly maxAgeMs: number;
  /** Undefined: no limit. */
  readonly maxBytes?: number;
  readonly hasMirror: boolean;
  readonly hasSources: boolean;
  /** `async` acknowledges before the message is on disk. */
  readonly persistMode: string;
  /** Id of the incarnation that made the stream; undefined when something else made it. */
  readonly incarnationId?: string;
  /** The first sequence that the stream was made with. */
  readonly madeWithFirstSequence: bigint;
  readonly lastSequence: bigint;
  readonly messages: number;
  readonly bytes: number;
  /** Consumers that the server keeps for it. */
  readonly consumers: number;
}

const nanosPerMs = 1_000_000;

/** The facts in a server's STREAM.INFO answer. Settings that an older server does not know are at their default. */
export function streamFactsOf({ config, state, cluster }: StreamInfo): StreamFacts {
  const incarnationId = config.metadata?.[incarnationMetadataKey];
  const peers = cluster?.replicas;
  return {
    name: config.name,
    subjects: config.subjects ?? [],
    storage: config.storage,
    replicas: config.num_replicas,
    ...(peers === undefined
      ? {}
      : { currentReplicas: 1 + peers.filter((peer) => peer.current && !peer.offline).length }),
    retention: config.retention,
    discard: config.discard,
    denyDelete: config.deny_delete,
    denyPurge: config.deny_purge,
    allowDirect: config.allow_direct === true,
    allowMessageTtl: config.allow_msg_ttl === true,
    maxAgeMs: (config.max_age ?? 0) / nanosPerMs,
    ...(config.max_bytes > 0 ? { maxBytes: config.max_bytes } : {}),
    hasMirror: config.mirror !== undefined,
    hasSources: (config.sources?.length ?? 0) > 0,
    persistMode: config.persist_mode ?? "",
    ...(incarnationId === undefined ? {} : { incarnationId }),
    madeWithFirstSequence: BigInt(config.first_seq ?? 1),
    lastSequence: BigInt(state.last_seq),
    messages: state.messages,
    bytes: state.bytes,
    consumers: state.consumer_count,
  };
}
