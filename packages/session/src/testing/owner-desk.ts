import type { Fault } from "@tenure/kernel";
import type { Outcome } from "../open-call.ts";
import type { OwnerPort } from "../store-calls.ts";

/** A call to an owner that a test answers. */
export interface OwnerCall {
  readonly name: string;
  readonly partition: number;
  readonly request: Uint8Array;
  answer(outcome: Uint8Array | Fault): void;
}

/** Owners of eight partitions that answer when a test says so. */
export class OwnerDesk implements OwnerPort {
  readonly calls: OwnerCall[] = [];

  hasPartition(partition: number): boolean {
    return partition < 8;
  }

  startAtOwner(
    name: string,
    partition: number,
    request: Uint8Array,
    _options: object,
    done: (outcome: Outcome) => void,
  ): { cancel(): void } {
    this.calls.push({ name, partition, request, answer: done });
    return { cancel: () => {} };
  }
}
