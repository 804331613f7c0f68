interface FieldBase {
  /** One sentence for `--help`: what it does, what happens without it. */
  readonly doc: string;
  /** Refuses to start when no source gives a value. A field with a default is never required. */
  readonly required?: true;
}

/** A rule on the text of a value, with the words that an error uses. */
export interface Pattern {
  readonly expression: RegExp;
  /** Completes "`--key` …", for example `must be letters, digits and dashes`. */
  readonly rule: string;
}

/** Free text. */
export interface StringField extends FieldBase {
  readonly kind: "string";
  readonly default?: string;
  readonly pattern?: Pattern;
}

/** Text that is never shown. It may also come from the file that `<key>-file` names, and has no default. */
export interface SecretField extends FieldBase {
  readonly kind: "secret";
  readonly default?: never;
}

/** A length of time such as `10s`; its property ends in `Ms` and holds milliseconds, its key has no unit. */
export interface DurationField extends FieldBase {
  readonly kind: "duration";
  readonly default?: string;
  readonly min?: string;
  readonly max?: string;
}

/** A whole number within bounds. */
export interface IntegerField extends FieldBase {
  readonly kind: "integer";
  readonly default?: number;
  readonly min: number;
  readonly max: number;
}

/** `--key`, `--no-key`, or `true` and `false` as text. */
export interface BooleanField extends FieldBase {
  readonly kind: "boolean";
  readonly default: boolean;
}

/** One of a closed set of words. */
export interface ChoiceField extends FieldBase {
  readonly kind: "choice";
  readonly choices: readonly string[];
  readonly default?: string;
}

/** Several texts: a repeated flag, a comma-separated variable, a sequence in the file. */
export interface ListField extends FieldBase {
  readonly kind: "list";
  readonly default?: readonly string[];
  readonly pattern?: Pattern;
}

/** The name of a file or folder, as given; the reader opens it. */
export interface PathField extends FieldBase {
  readonly kind: "path";
  readonly default?: string;
}

/** The description of one configuration value. */
export type Field =
  | StringField
  | SecretField
  | DurationField
  | IntegerField
  | BooleanField
  | ChoiceField
  | ListField
  | PathField;

/** The fields of one program by property name; the key, flag and variable follow from the property. */
export type Fields = Readonly<Record<string, Field>>;

/** What a field can hold after it is read. */
export type ConfigValue = string | number | boolean | readonly string[];

type Held<F extends Field> = F extends IntegerField | DurationField
  ? number
  : F extends BooleanField
    ? boolean
    : F extends ListField
      ? readonly string[]
      : F extends ChoiceField
        ? F["choices"][number]
        : string;

/** The values of `F`: a field without a default that is not required may be undefined. */
export type ConfigValues<F extends Fields> = {
  readonly [P in keyof F]: F[P] extends { readonly default: unknown } | { readonly required: true }
    ? Held<F[P]>
    : Held<F[P]> | undefined;
};

/** Describes fields once; everything else (flags, variables, help, types) follows from the description. */
export function defineConfig<const F extends Fields>(fields: F): F {
  return fields;
}
