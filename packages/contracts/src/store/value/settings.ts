import { defaultSettings, limitName, type Settings } from "@tenure/core";
import type { SettingsChanged, SettingsChanged_Setting } from "../../gen/tenure/log/v1/partition_event.ts";
import { type Reading, shown } from "../reading.ts";
import { durationFromWire, durationToWire } from "./time.ts";

type Group = "limits" | "retention" | "policy" | "timing";

/** Each setting's name as configuration spells it, with where it stands in core. */
interface Place {
  readonly name: string;
  readonly unit: "count" | "duration" | "fraction";
  readonly get: (settings: Settings) => number;
  readonly set: (settings: Editable, value: number) => void;
}

interface Editable {
  limits: Record<string, number>;
  retention: Record<string, number>;
  policy: Record<string, number>;
  timing: Record<string, number>;
  acceptWindowMs: number;
}

const prefixes: Readonly<Record<Group, string>> = {
  limits: "",
  retention: "keep-",
  policy: "policy-",
  timing: "timing-",
};

/** `leaseDurationMs` of the timing is `timing-lease-duration`. Derived, so that a new setting cannot be forgotten. */
function placesOf(group: Group): readonly Place[] {
  return Object.keys(defaultSettings[group]).map((key): Place => {
    const isDuration = key.endsWith("Ms");
    const text = limitName((isDuration ? key.slice(0, -2) : key) as Parameters<typeof limitName>[0]);
    const isFraction = key === "rateError";
    return {
      name: prefixes[group] + text,
      unit: isDuration ? "duration" : isFraction ? "fraction" : "count",
      get: (settings) => (settings[group] as unknown as Record<string, number>)[key] ?? 0,
      set: (settings, value) => {
        settings[group][key] = value;
      },
    };
  });
}

const places: readonly Place[] = [
  ...placesOf("limits"),
  ...placesOf("retention"),
  ...placesOf("policy"),
  ...placesOf("timing"),
  {
    name: "accept-window",
    unit: "duration",
    get: ({ acceptWindowMs }) => acceptWindowMs,
    set: (settings, value) => {
      settings.acceptWindowMs = value;
    },
  },
];
const placesByName: ReadonlyMap<string, Place> = new Map(places.map((place) => [place.name, place]));

/** A partition's settings on the wire: all of them, by name. */
export function settingsToWire(settings: Settings): SettingsChanged {
  return { settings: places.map((place) => settingToWire(place, place.get(settings))) };
}

function settingToWire({ name, unit }: Place, value: number): SettingsChanged_Setting {
  switch (unit) {
    case "count":
      return { name, value: { $case: "limit", value: BigInt(value) } };
    case "duration":
      return { name, value: { $case: "duration", value: durationToWire(value) } };
    case "fraction":
      return { name, value: { $case: "fraction", value } };
  }
}

/**
 * A partition's settings. One that the writer did not know takes its default; one that this reader does not know is
 * rejected, because replicas that decide by different settings would part.
 */
export function settingsFromWire(reading: Reading, field: string, changed: SettingsChanged): Settings {
  const { acceptWindowMs, limits, policy, retention, timing } = defaultSettings;
  const settings: Editable = {
    limits: { ...limits },
    retention: { ...retention },
    policy: { ...policy },
    timing: { ...timing },
    acceptWindowMs,
  };
  for (const { name, value } of changed.settings) {
    const place = placesByName.get(name);
    const number = numberOf(reading, `${field}.${name}`, value);
    if (place === undefined) reading.reject(field, "must be settings that this version knows", shown(name));
    else place.set(settings, number);
  }
  return settings as unknown as Settings;
}

function numberOf(reading: Reading, field: string, value: SettingsChanged_Setting["value"]): number {
  switch (value?.$case) {
    case "limit":
      return Number(value.value);
    case "duration":
      return durationFromWire(reading, field, value.value, 0);
    case "fraction":
      return value.value;
    default:
      reading.reject(field, "must have a value", "absent");
      return 0;
  }
}
