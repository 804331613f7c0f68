import type { Bus } from "@tenure/bus";
import { askOnce, type JetStreamAnswer, refusedBy } from "./jetstream-question.ts";
import { streamNames } from "./streams.ts";

/** How full the log is. */
export interface LogSize {
  readonly bytes: number;
  readonly messages: number;
  /** Appends are refused when it is full; undefined: no limit. */
  readonly limitBytes: number | undefined;
}

interface StreamAnswer extends JetStreamAnswer {
  readonly config?: { readonly max_bytes?: number };
  readonly state?: { readonly bytes?: number; readonly messages?: number };
}

/** Asks once. Rejects with UNAVAILABLE when no leader answers in time. */
export async function readLogSize(bus: Bus, timeoutMs: number): Promise<LogSize> {
  const doing = "read the size of the log";
  const subject = `$JS.API.STREAM.INFO.${streamNames.log}`;
  const { config, error, state } = await askOnce<StreamAnswer>(bus, subject, {}, { doing, timeoutMs });
  if (error !== undefined) throw refusedBy(doing, error);
  const limitBytes = config?.max_bytes ?? -1;
  return {
    bytes: state?.bytes ?? 0,
    messages: state?.messages ?? 0,
    limitBytes: limitBytes > 0 ? limitBytes : undefined,
  };
}
