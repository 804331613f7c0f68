import type { Labels } from "@tenure/core";

const none: Labels = Object.freeze({});

/** Labels on the wire, in order of key, so that equal labels give equal bytes. */
export function labelsToWire(labels: Labels): { [key: string]: string } {
  const keys = Object.keys(labels);
  if (keys.length < 2) return labels as { [key: string]: string };
  return Object.fromEntries(keys.sort().map((key) => [key, labels[key] ?? ""]));
}

/** Labels from the wire; none is one object for all. */
export function labelsFromWire(labels: { readonly [key: string]: string }): Labels {
  for (const _ in labels) return labels;
  return none;
}
