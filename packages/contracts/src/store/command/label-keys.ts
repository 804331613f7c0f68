import type { Labels } from "@tenure/core";
import { type Reading, shown } from "../reading.ts";

const keyPattern = /^[a-zA-Z0-9][-._/a-zA-Z0-9]*$/;

/** Rejects labels whose keys selectors could not name. Their number and size are core's to judge. */
export function checkLabelKeys(reading: Reading, field: string, labels: Labels): void {
  for (const key of Object.keys(labels)) {
    if (keyPattern.test(key)) continue;
    const rule = "must have keys that begin with a letter or digit and go on with [-._/a-zA-Z0-9]";
    reading.reject(field, rule, shown(key));
  }
}
