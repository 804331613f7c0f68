import { create, fromJson, type JsonObject, type JsonValue, type Message, toBinary } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";
import type { Method, Path, Place } from "./schema.ts";
import { registry } from "./schema.ts";

/** A request in the JSON form of protobuf, with the names of the API. */
export type Request = JsonObject;

/** The request as it travels. */
export function encode({ input }: Pick<Method, "input">, request: Request): Uint8Array {
  return toBinary(input, fromJson(input, request, { registry }));
}

/** A copy with a value at a path; what is missing on the way is made. */
export function withValue(request: Request, path: Path, value: JsonValue): Request {
  return put(request, path, value) as Request;
}

function put(node: JsonValue | undefined, [head, ...rest]: Path, value: JsonValue): JsonValue {
  if (head === undefined) return value;
  if (typeof head === "number") {
    const list = Array.isArray(node) ? [...node] : [];
    list[head] = put(list[head], rest, value);
    return list;
  }
  const object = isObject(node) ? node : {};
  return { ...object, [head]: put(object[head], rest, value) };
}

/** A copy without what stands at a path; a list loses the entry. */
export function without(request: Request, path: Path): Request {
  const parent = path.slice(0, -1);
  const last = path.at(-1);
  const holder = valueAt(request, parent);
  if (Array.isArray(holder)) {
    return withValue(
      request,
      parent,
      holder.filter((_, place) => place !== last),
    );
  }
  if (!isObject(holder)) return request;
  const kept = Object.fromEntries(Object.entries(holder).filter(([name]) => name !== last));
  return parent.length === 0 ? kept : withValue(request, parent, kept);
}

/** What stands at a path; undefined if nothing does. */
export function valueAt(request: Request, path: Path): JsonValue | undefined {
  let node: JsonValue | undefined = request;
  for (const part of path) {
    if (Array.isArray(node) && typeof part === "number") node = node[part];
    else if (isObject(node) && typeof part === "string") node = node[part];
    else return undefined;
  }
  return node;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** One value, as raw bytes, that a field's type does not allow. */
const wrongValues = {
  /** The number 5, for what has a length. */
  number: { wireType: WireType.Varint, data: Uint8Array.of(5) },
  /** The text "x", for what is a number. */
  text: { wireType: WireType.LengthDelimited, data: Uint8Array.of(1, 0x78) },
} as const;

/** The request with a value of another type in place of the field. */
export function encodeWithWrongType(method: Pick<Method, "input">, request: Request, { field, path }: Place) {
  const isNumber = field.fieldKind === "enum" || (field.fieldKind === "scalar" && !hasLength(field.scalar));
  const message = fromJson(method.input, without(request, path), { registry });
  const wrong = isNumber ? wrongValues.text : wrongValues.number;
  parentOf(message, method, path).$unknown = [{ no: field.number, ...wrong }];
  return toBinary(method.input, message);
}

/** Text is 9, bytes are 12 in the descriptors' numbering. */
function hasLength(scalar: number): boolean {
  return scalar === 9 || scalar === 12;
}

/** The message that has the field, inside the whole one; made if it is missing. */
function parentOf(message: Message, { input }: Pick<Method, "input">, path: Path): Message {
  let node: Record<string, unknown> = message as unknown as Record<string, unknown>;
  let type = input;
  for (let at = 0; at < path.length - 1; at += 1) {
    const field = type.fields.find(({ name }) => name === path[at]);
    if (field === undefined || (field.fieldKind !== "message" && field.fieldKind !== "list")) break;
    if (field.message === undefined) break;
    type = field.message;
    if (field.fieldKind === "list") {
      at += 1;
      node = (node[field.localName] as Record<string, unknown>[])[path[at] as number] ?? {};
      continue;
    }
    node[field.localName] ??= create(type);
    node = node[field.localName] as Record<string, unknown>;
  }
  return node as unknown as Message;
}
