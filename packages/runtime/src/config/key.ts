import type { Field, Fields, PathField } from "./field.ts";

/** One name under which a value may be given, in every spelling. */
export interface Key {
  /** The property that receives the value. */
  readonly property: string;
  /** As a configuration file spells it: `nats-url`. */
  readonly key: string;
  /** As the command line spells it: `--nats-url`. */
  readonly flag: string;
  /** As the environment spells it: `TENURE_NATS_URL`. */
  readonly environment: string;
  readonly field: Field;
  /** True for the `<key>-file` twin of a secret: the value is the contents of the file that it names. */
  readonly indirect: boolean;
}

/** Every environment variable of the product begins with it. */
export const environmentPrefix = "TENURE_";

/** The variable that stands for a key. */
export function environmentName(key: string): string {
  return environmentPrefix + key.toUpperCase().replaceAll("-", "_");
}

/** Every name that `fields` answers to, in the order of their description. */
export function keysOf(fields: Fields): readonly Key[] {
  return Object.entries(fields).flatMap(([property, field]) => {
    const key = keyOf(property, field);
    const direct = spell(property, key, field, false);
    if (field.kind !== "secret") return [direct];
    const twin: PathField = { kind: "path", doc: `File that holds ${key}: ${field.doc}` };
    return [direct, spell(property, `${key}-file`, twin, true)];
  });
}

function spell(property: string, key: string, field: Field, indirect: boolean): Key {
  return { property, key, flag: `--${key}`, environment: environmentName(key), field, indirect };
}

/** `natsUrl` is `nats-url`; a duration's property carries its unit (`stopTimeoutMs`), its key does not. */
function keyOf(property: string, field: Field): string {
  const isDuration = field.kind === "duration";
  if (isDuration !== property.endsWith("Ms")) {
    throw new TypeError(`field ${property}: durations, and only they, have a property that ends in Ms`);
  }
  const name = isDuration ? property.slice(0, -2) : property;
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
