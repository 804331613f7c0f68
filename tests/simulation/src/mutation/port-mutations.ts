import type { PartitionWriter } from "@tenure/lease-store/replica";
import type { LogTransport } from "@tenure/log";
import type { MemoryLog } from "@tenure/log/memory";
import { timing } from "../store/timing.ts";

/** Says that an append is done before it is, and does not look whether it was. */
export function acknowledgeEarly(inner: LogTransport, log: MemoryLog): LogTransport {
  return {
    append: async (request) => {
      const sequence = log.lastSequence + 1n;
      void inner.append(request);
      return { kind: "acked", sequence };
    },
    tail: (from, listener) => inner.tail(from, listener),
    readAfter: (partition, sequence) => inner.readAfter(partition, sequence),
    readLast: (partition) => inner.readLast(partition),
  };
}

/** Appends after whatever is there, instead of after what the writer knew. */
export function skipSequenceCheck(inner: LogTransport, log: MemoryLog): LogTransport {
  return {
    append: (request) => {
      const prev = log.messages(request.partition).at(-1)?.sequence ?? 0n;
      return inner.append({ ...request, prev });
    },
    tail: (from, listener) => inner.tail(from, listener),
    readAfter: (partition, sequence) => inner.readAfter(partition, sequence),
    readLast: (partition) => inner.readLast(partition),
  };
}

/** Takes an append without an answer for one that was not made. */
export function takeSilenceForFailure(
  _inner: PartitionWriter,
  transport: LogTransport,
  partition: number,
): PartitionWriter {
  return {
    commit: async (payload, prev) => {
      const sentAtMs = 0;
      const outcome = await transport.append({ partition, payload, prev, timeoutMs: timing.requestTimeoutMs });
      if (outcome.kind === "acked") return { kind: "committed", sequence: outcome.sequence, sentAtMs };
      return { kind: "lost", sequence: outcome.lastSequence ?? prev, applied: "NO" };
    },
  };
}
