import { type DescField, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { encode, encodeWithWrongType, type Request, valueAt, without, withValue } from "./request.ts";
import { isFreeText, isIgnored } from "./rules.ts";
import type { Sample } from "./samples.ts";
import { fullNameOf, isText, type Method, type Place, placesOf, scalarOf, spell } from "./schema.ts";
import type { World } from "./world.ts";

/** What is wrong with a request. */
export type Flaw =
  | "missing"
  | "wrong type"
  | "unknown enum value"
  | "over-long"
  | "wildcard"
  | "negative duration"
  | "stale revision"
  | "foreign token";

/** One bad request. */
export interface Case {
  readonly flaw: Flaw;
  /** Where it is, as refusals spell it. */
  readonly field: string;
  readonly place: Place;
  readonly request: Uint8Array;
}

const overLong = "x".repeat(5_000);
/** More than the largest value that is taken anywhere. */
const overLongBytes = Buffer.alloc(20_000).toString("base64");
const wildcards = ["*", ">", "a.*", "a.>"] as const;
/** No enum of the API has as many values. */
const unknownNumber = 99;

/** Every bad request that follows from the descriptors and the sample. */
export function casesOf(method: Method, sample: Sample, world: World): readonly Case[] {
  const request = sample.make(world);
  const places = placesOf(method.input);
  return places.flatMap((place) => [
    ...lacking(method, request, place, sample.optional ?? []),
    ...spoiled(method, request, place),
    ...outdated(method, request, place, world),
  ]);
}

/** Without something that the sample has, or with something of another type in its place. */
function lacking(method: Method, request: Request, place: Place, optional: readonly string[]): readonly Case[] {
  const field = spell(place.path);
  if (valueAt(request, place.path) === undefined || optional.includes(field)) return [];
  return [
    { flaw: "missing", field, place, request: encode(method, without(request, place.path)) },
    { flaw: "wrong type", field, place, request: encodeWithWrongType(method, request, place) },
  ];
}

/** With something that no caller may say, also in fields that the sample does not have. */
function spoiled(method: Method, request: Request, place: Place): readonly Case[] {
  if (isIgnored(place.field)) return [];
  const field = spell(place.path);
  return badValues(place.field).map(([flaw, value]) => {
    const spoilt = withValue(companyFor(clearedFor(request, place, method), place), place.path, value);
    return { flaw, field, place, request: encode(method, spoilt) };
  });
}

type BadValue = readonly [Flaw, JsonValue];

function badValues(field: DescField): readonly BadValue[] {
  const one = (flaw: Flaw, value: string | number): BadValue => [flaw, field.fieldKind === "list" ? [value] : value];
  if (field.fieldKind === "map") {
    return [
      ["over-long", { [overLong]: "v" }],
      ["over-long", { k: overLong }],
      ...(isFreeText(field) ? [] : wildcards.map((text): BadValue => ["wildcard", { [text]: "v" }])),
    ];
  }
  if (field.fieldKind === "enum" || (field.fieldKind === "list" && field.listKind === "enum")) {
    return [one("unknown enum value", unknownNumber)];
  }
  if (field.fieldKind === "message" && field.message.typeName === "google.protobuf.Duration") {
    return [one("negative duration", "-1s")];
  }
  if (field.fieldKind === "message" && field.message.typeName === "google.protobuf.FieldMask") {
    return [one("wildcard", "noSuchField"), one("over-long", overLong)];
  }
  if (scalarOf(field) === ScalarType.BYTES) return [one("over-long", overLongBytes)];
  if (!isText(field)) return [];
  return [
    one("over-long", overLong),
    ...(isFreeText(field) ? [] : wildcards.map((text): BadValue => one("wildcard", text))),
  ];
}

/** What must stand beside a field so that nothing but its value is wrong, by the field's full name. */
const companions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "tenure.v1.Strategy.expression": { kind: "STRATEGY_KIND_EXPRESSION" },
  "tenure.v1.Strategy.vendor": { kind: "STRATEGY_KIND_VENDOR" },
  "tenure.v1.LeaseSelector.name": { namespace: "input" },
  "tenure.v1.LeaseSelector.name_prefix": { namespace: "input" },
  "tenure.v1.LabelRequirement.key": { operator: "LABEL_OPERATOR_EXISTS" },
  "tenure.v1.LabelRequirement.values": { key: "k", operator: "LABEL_OPERATOR_IN" },
  "tenure.v1.Participant.version": { component: "component" },
  "tenure.v1.Participant.component": { version: "1.0.0" },
  "tenure.v1.Attempt.client_id": { number: "1" },
  "tenure.v1.Priority.reason": { value: "1" },
  "tenure.v1.GuardComparison.value_is": { key: "k" },
  "tenure.v1.GuardOperation.Write.value": { key: "k" },
};

function companyFor(request: Request, { field, path }: Place): Request {
  return Object.entries(companions[fullNameOf(field)] ?? {}).reduce(
    (whole, [name, value]) => withValue(whole, [...path.slice(0, -1), name], value),
    request,
  );
}

/** The request without other members of a choice that the field, or what it stands in, is a member of. */
function clearedFor(request: Request, { path }: Place, method: Method): Request {
  let cleared = request;
  for (const { field, path: at } of placesOf(method.input)) {
    const isOnTheWay = spell(path) === spell(at) || spell(path).startsWith(`${spell(at)}.`);
    for (const other of isOnTheWay ? (field.oneof?.fields ?? []) : []) {
      if (other.name !== field.name) cleared = without(cleared, [...at.slice(0, -1), other.name]);
    }
  }
  return cleared;
}

/** With a revision that was passed or not reached, and with a token that is not the caller's. */
function outdated(method: Method, request: Request, place: Place, world: World): readonly Case[] {
  const field = spell(place.path);
  const withNumber = (flaw: Flaw) => (value: bigint) => {
    return { flaw, field, place, request: encode(method, withValue(request, place.path, String(value))) };
  };
  if (place.field.name === "expected_revision") {
    return [1n, world.revision - 1n, world.revision + 1_000n].map(withNumber("stale revision"));
  }
  if (place.field.name !== "token" || scalarOf(place.field) !== ScalarType.UINT64) return [];
  const own = method.name === "LeaseService.Accept" ? world.pendingToken : world.token;
  return [own - 1n, own + 1n, world.foreignToken, 2n ** 63n].map(withNumber("foreign token"));
}
