import { type Reading, shown } from "../reading.ts";

/**
 * The fields of a spec that an update replaces: those that the mask's paths name, or all if it names none. `fields` maps the names on the wire to
 * core's; a path that is none of them is rejected.
 */
export function maskedFields<T extends object>(
  reading: Reading,
  fields: Readonly<Record<string, keyof T>>,
  paths: readonly string[],
  spec: T,
): Partial<T> {
  if (paths.length === 0) return spec;
  const chosen: Partial<T> = {};
  for (const path of paths) {
    const key = Object.hasOwn(fields, path) ? fields[path] : undefined;
    if (key === undefined) {
      reading.reject("update_mask.paths", `must be fields of spec: ${Object.keys(fields).join(", ")}`, shown(path));
    } else if (Object.hasOwn(spec, key)) chosen[key] = spec[key];
  }
  return chosen;
}
