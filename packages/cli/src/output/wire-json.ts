/** What generated code has for a message. */
interface Codec<Message> {
  toJSON(message: Message): unknown;
}

const nanosDigits = 9;

/**
 * The API's JSON of a message, as protobuf defines it, with durations as `1.5s`. The generated code leaves them as seconds
 * and nanoseconds, without those that are 0, so the message itself is looked at too.
 */
export function wireJson<Message>(codec: Codec<Message>, message: Message): unknown {
  return convert(message, codec.toJSON(message));
}

function convert(value: unknown, json: unknown): unknown {
  if (Array.isArray(json)) return json.map((one, index) => convert((value as unknown[])?.[index], one));
  if (typeof json !== "object" || json === null) return json;
  if (isSpan(value)) return durationText(value);
  const fields = fieldsOf(value);
  return Object.fromEntries(Object.entries(json).map(([key, one]) => [key, convert(fields[key], one)]));
}

/** The fields of a message by their names in JSON, where the chosen one of a `oneof` stands among the others. */
function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      const isChoice = typeof one === "object" && one !== null && "$case" in one;
      return isChoice ? [String(one.$case), (one as { value?: unknown }).value] : [key, one];
    }),
  );
}

interface Span {
  readonly seconds: bigint;
  readonly nanos: number;
}

function isSpan(value: unknown): value is Span {
  if (typeof value !== "object" || value === null || !("seconds" in value)) return false;
  return typeof value.seconds === "bigint" && "nanos" in value && Object.keys(value).length === 2;
}

function durationText({ nanos, seconds }: Span): string {
  const sign = seconds < 0n || nanos < 0 ? "-" : "";
  return `${sign}${seconds < 0n ? -seconds : seconds}${fraction(Math.abs(nanos))}s`;
}

function fraction(nanos: number): string {
  return nanos === 0 ? "" : `.${String(nanos).padStart(nanosDigits, "0").replace(/0+$/, "")}`;
}
