import { createFileRegistry, type DescField, type DescMessage, fromBinary, ScalarType } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { fileDescriptorSet } from "@tenure/contracts";

/** The API as its descriptors say it is. */
export const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, fileDescriptorSet()));

/** The services whose every unary call is tried with bad input. */
const services = ["tenure.v1.LeaseService", "tenure.v1.GuardService", "tenure.v1.CandidateService"] as const;

/** One unary call of the API. */
export interface Method {
  /** As sessions name it, such as `LeaseService.Acquire`. */
  readonly name: string;
  /** As gRPC names it, such as `/tenure.v1.LeaseService/Acquire`. */
  readonly path: string;
  readonly input: DescMessage;
  readonly output: DescMessage;
}

/** Every unary call of the services. */
export const methods: readonly Method[] = services.flatMap((fullName) => {
  const service = registry.getService(fullName);
  if (service === undefined) throw new Error(`the API has no ${fullName}`);
  return service.methods
    .filter(({ methodKind }) => methodKind === "unary")
    .map(({ input, name, output }) => {
      return { name: `${service.name}.${name}`, path: `/${fullName}/${name}`, input, output };
    });
});

/** Where a field stands in a request: names as the API spells them, and places in lists. */
export type Path = readonly (string | number)[];

/** A path as refusals spell it: `claims[0].lease.name`. */
export function spell(path: Path): string {
  return path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`))
    .join("")
    .slice(1);
}

/** A field of a request, or of what a request contains. */
export interface Place {
  readonly path: Path;
  readonly field: DescField;
}

/** Every field below a message, each list with one entry. Nothing of the API contains itself. */
export function placesOf(message: DescMessage, base: Path = []): readonly Place[] {
  return message.fields.flatMap((field) => {
    const path = [...base, field.name];
    const place = { path, field };
    const inner = field.fieldKind === "message" || field.fieldKind === "list" ? field.message : undefined;
    if (inner === undefined || isWellKnown(inner)) return [place];
    return [place, ...placesOf(inner, field.fieldKind === "list" ? [...path, 0] : path)];
  });
}

/** Times and masks have a form of their own and count as one value. */
export function isWellKnown({ typeName }: DescMessage): boolean {
  return typeName.startsWith("google.protobuf.");
}

/** The full name of a field, such as `tenure.v1.LeaseKey.name`. */
export function fullNameOf({ name, parent }: DescField): string {
  return `${parent.typeName}.${name}`;
}

/** The type of a field's value, or of each value of a list; undefined for what is no scalar. */
export function scalarOf(field: DescField): ScalarType | undefined {
  if (field.fieldKind === "scalar") return field.scalar;
  return field.fieldKind === "list" && field.listKind === "scalar" ? field.scalar : undefined;
}

/** Whether a field holds text. */
export function isText(field: DescField): boolean {
  return scalarOf(field) === ScalarType.STRING;
}
