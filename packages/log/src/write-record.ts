import { type Bus, incarnationSubject } from "@tenure/bus";
import { Backoff, Fault, systemClock, systemRandom } from "@tenure/kernel";
import { AppendChannel } from "./append-channel.ts";
import { findIncarnation, type Incarnation } from "./incarnation.ts";
import { encodeIncarnation } from "./incarnation-codec.ts";
import type { ReadOptions } from "./jetstream-api.ts";
import type { AppendRefusal } from "./js-errors.ts";

/** One try's patience; the record is small and written once. */
const appendTimeoutMs = 5000;

/**
 * Writes the record, with the condition that there is none. A try that did not come through, or whose answer was lost,
 * is repeated with the same condition: a conflict, or a full stream, tells that a record is there, and what it says
 * decides.
 */
export async function writeRecord(bus: Bus, incarnation: Incarnation, options: ReadOptions): Promise<void> {
  const { clock = systemClock, random = systemRandom, signal, boundMs = 10_000 } = options;
  using channel = new AppendChannel(bus, clock);
  const backoff = new Backoff({ firstMs: 20, limitMs: 1000 }, random);
  const payload = encodeIncarnation(incarnation);
  const startedAt = clock.now();
  for (;;) {
    const outcome = await channel.append({
      subject: incarnationSubject,
      payload,
      expectedLastSubjectSequence: 0n,
      timeoutMs: appendTimeoutMs,
    });
    if (outcome.kind === "acked") return;
    if (outcome.refusal === "Conflict" || outcome.refusal === "Full") {
      const found = await findIncarnation(bus, options);
      if (found.kind === "present" && found.incarnation.id === incarnation.id) return;
    }
    if (!repeatable.has(outcome.refusal) || clock.now() - startedAt > boundMs)
      throw incompleteFault(outcome.description);
    await clock.sleep(backoff.next(), signal);
  }
}

/** Refusals after which the same append may be tried again. */
const repeatable: ReadonlySet<AppendRefusal> = new Set(["Busy", "Unavailable", "Ambiguous"]);

function incompleteFault(description: string): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    reason: "INIT_INCOMPLETE",
    message: `the streams exist but the incarnation record was not written (${description}): if no service has ever run here, delete the TENURE streams and run init again`,
  });
}
