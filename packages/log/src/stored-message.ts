import type { Bus } from "@tenure/bus";
import { expectedSequenceHeader } from "./append-channel.ts";
import { askOnce, type JetStreamAnswer, refusedBy } from "./jetstream-question.ts";
import { jetStreamErrorCodes as codes } from "./js-errors.ts";
import type { LoggedMessage } from "./log-transport.ts";

/** Which message to read: the first of a subject at or after a sequence, or the last of a subject. */
export type MessageQuery = { readonly seq: number; readonly next_by_subj: string } | { readonly last_by_subj: string };

interface StoredMessageAnswer extends JetStreamAnswer {
  readonly message?: { readonly seq: number; readonly data?: string; readonly hdrs?: string };
}

/** How long one read may take; a leader that does not answer by then is asked again by whoever needs it. */
const readTimeoutMs = 2000;

/**
 * Reads one message through the stream's leader. Undefined when that leader has none, which proves nothing: it may have
 * been deposed. Rejects with UNAVAILABLE when nobody answers.
 */
export async function readMessage(bus: Bus, stream: string, query: MessageQuery): Promise<LoggedMessage | undefined> {
  const doing = `read a message of stream ${stream}`;
  const subject = `$JS.API.STREAM.MSG.GET.${stream}`;
  const answer = await askOnce<StoredMessageAnswer>(bus, subject, query, { doing, timeoutMs: readTimeoutMs });
  if (answer.error?.err_code === codes.noMessageFound) return undefined;
  if (answer.error !== undefined) throw refusedBy(doing, answer.error);
  if (answer.message === undefined) return undefined;
  const { seq, data = "", hdrs = "" } = answer.message;
  return { sequence: BigInt(seq), payload: fromBase64(data), prev: expectedSequenceOf(hdrs) };
}

function fromBase64(text: string): Uint8Array {
  const bytes = Buffer.from(text, "base64");
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The condition that a stored message was appended with, from its headers as JetStream returns them. */
function expectedSequenceOf(encodedHeaders: string): bigint | undefined {
  const text = Buffer.from(encodedHeaders, "base64").toString("utf8");
  for (const line of text.split("\r\n")) {
    if (line.startsWith(`${expectedSequenceHeader}:`))
      return parseSequence(line.slice(expectedSequenceHeader.length + 1));
  }
  return undefined;
}

/** A sequence as a header spells it; undefined when it is none. */
export function parseSequence(text: string | undefined): bigint | undefined {
  const digits = text?.trim() ?? "";
  return /^\d+$/.test(digits) ? BigInt(digits) : undefined;
}
