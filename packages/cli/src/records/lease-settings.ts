import { ConsensusRule, type Duration, durationToMs, HoldMode, type LeaseSpec } from "@tenure/contracts";
import { defaultLeaseSpec } from "@tenure/core";
import { wrap } from "../output/wrap.ts";
import { countText, durationText, word } from "./words.ts";

/** Characters beside the names of facts, so that both fit into a terminal of 80. */
const width = 60;

/** The settings of a lease that are not the default, by the names that `apply` takes. Values never go over a line's end unless one alone is longer. */
export function settingFacts(spec: LeaseSpec | undefined): readonly (readonly [name: string, value: string])[] {
  if (spec === undefined) return [];
  return [
    ["Mode", word(HoldMode, spec.mode)],
    ["Capacity", spec.mode === HoldMode.COUNTED ? countText(spec.capacity) : ""],
    ["Settings", wrap(plainSettings(spec), width)],
    ["Zones", wrap(spec.zonePreference, width)],
    ["Labels", wrap(pairs(spec.labels), width)],
    ["Annotations", pairs(spec.annotations).map(firstLine).join("\n")],
  ];
}

function plainSettings(spec: LeaseSpec): readonly string[] {
  const rule = word(ConsensusRule, spec.consensusRule);
  return [
    ...duration("leaseDuration", spec.leaseDuration, defaultLeaseSpec.leaseDurationMs),
    ...duration("lockDelay", spec.lockDelay, defaultLeaseSpec.lockDelayMs),
    ...duration("drainBound", spec.drainBound, defaultLeaseSpec.drainBoundMs),
    ...duration("minimumTerm", spec.minimumTerm, defaultLeaseSpec.minimumTermMs),
    ...duration("coolDown", spec.coolDown, defaultLeaseSpec.coolDownMs),
    // Without one nobody falls back, so every one that is there says something, 0 too.
    ...duration("fallbackDelay", spec.fallbackDelay, undefined),
    ...(rule === "" || rule === defaultLeaseSpec.consensusRule ? [] : [`consensusRule ${rule}`]),
  ];
}

function duration(name: string, value: Duration | undefined, defaultMs: number | undefined): readonly string[] {
  if (value === undefined || durationToMs(value) === defaultMs) return [];
  return [`${name} ${durationText(value)}`];
}

function pairs(values: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(values).map(([key, value]) => `${key}=${value}`);
}

/** Annotations are free text of up to 4 KiB: enough to know one by; `-o yaml` has the whole. */
function firstLine(text: string): string {
  const [line = ""] = text.split("\n");
  return line.length <= width && line === text ? text : `${line.slice(0, width - 1)}…`;
}
