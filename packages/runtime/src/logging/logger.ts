import type { Clock } from "@tenure/kernel";
import { type DestinationStream, type Logger, pino } from "pino";
import { prettyFactory } from "pino-pretty";
import { serializeError } from "./fault-serializer.ts";
import { censor, censored, secretPaths } from "./redaction.ts";

/** What every line of a service has in common, and where lines go. */
export interface LoggerOptions {
  readonly service: string;
  readonly instance: string;
  readonly level: string;
  readonly format: "json" | "pretty";
  /** Whether pretty lines are coloured. */
  readonly colors: boolean;
  readonly clock: Clock;
  /** Values that must not appear in any line. */
  readonly secrets: readonly string[];
  /** Receives finished lines, in order, before the call that logged them returns. */
  readonly destination: DestinationStream;
}

/**
 * Lines are written synchronously and in this process, so that the last line before an exit is never lost. Errors go
 * under `err` and show a fault's code and reason; stacks of faults only from level debug.
 */
export function createLogger(options: LoggerOptions): Logger {
  const stacks = options.level === "debug" || options.level === "trace";
  return pino(
    {
      level: options.level,
      base: { service: options.service, instance: options.instance },
      timestamp: () => `,"time":"${new Date(options.clock.wall()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (thrown: unknown) => serializeError(thrown, stacks) },
      redact: { paths: [...secretPaths], censor: censored },
    },
    written(options),
  );
}

function written({ format, colors, secrets, destination }: LoggerOptions): DestinationStream {
  const clean = censor(secrets);
  if (format === "json") return { write: (line) => destination.write(clean(line)) };
  const beautify = prettyFactory({
    colorize: colors,
    translateTime: "SYS:HH:MM:ss.l",
    ignore: "pid,hostname,service,instance",
    messageFormat: "{service}: {msg}",
    singleLine: true,
  });
  return { write: (line) => destination.write(clean(beautify(line))) };
}

/** Standard output, written synchronously; a reader that goes away ends the logging, not the service. */
export function standardOutput(): DestinationStream {
  return pino.destination({ dest: 1, sync: true });
}
