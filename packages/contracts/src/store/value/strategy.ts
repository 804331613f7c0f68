import type {
  Strategy as CoreStrategy,
  StrategyConflict as CoreStrategyConflict,
  StrategySetting as CoreStrategySetting,
} from "@tenure/core";
import type { Timestamp } from "../../gen/google/protobuf/timestamp.ts";
import type { Strategy, StrategyConflict, StrategySetting } from "../../gen/tenure/v1/strategy.ts";
import type { Reading } from "../reading.ts";
import { strategyKindTable, strategySources, wordOf } from "./enums.ts";
import { shareText } from "./text.ts";

/** A strategy on the wire. */
export function strategyToWire({ expression, kind, vendor }: CoreStrategy): Strategy {
  return { kind: strategyKindTable.toWire[kind], expression, vendor };
}

/** A strategy from the wire; that it or its kind is missing is rejected. */
export function strategyFromWire(reading: Reading, field: string, strategy: Strategy | undefined): CoreStrategy {
  if (strategy === undefined) {
    reading.reject(field, "is required", "absent");
    return { kind: "noCoordination", expression: "", vendor: "" };
  }
  const kind = wordOf(reading, `${field}.kind`, strategyKindTable, strategy.kind);
  return { kind, expression: shareText(strategy.expression), vendor: shareText(strategy.vendor) };
}

/** A lease's strategy on the wire; in the log its time is absent. */
export function strategySettingToWire(
  { author, reason, source, strategy }: CoreStrategySetting,
  setAt?: Timestamp,
): StrategySetting {
  return { strategy: strategyToWire(strategy), source: strategySources.toWire[source], author, reason, setAt };
}

/** A lease's strategy from the wire. */
export function strategySettingFromWire(
  reading: Reading,
  field: string,
  { author, reason, source, strategy }: StrategySetting,
): CoreStrategySetting {
  return {
    strategy: strategyFromWire(reading, `${field}.strategy`, strategy),
    source: wordOf(reading, `${field}.source`, strategySources, source),
    author: shareText(author),
    reason,
  };
}

/** A conflict of strategies on the wire; in the log its time is absent. */
export function strategyConflictToWire({ sides }: CoreStrategyConflict, since?: Timestamp): StrategyConflict {
  return {
    sides: sides.map(({ candidates, strategy }) => ({ strategy: strategyToWire(strategy), candidates })),
    since,
  };
}

/** A conflict of strategies from the wire. */
export function strategyConflictFromWire(
  reading: Reading,
  field: string,
  { sides }: StrategyConflict,
): CoreStrategyConflict {
  return {
    sides: sides.map(({ candidates, strategy }, place) => ({
      strategy: strategyFromWire(reading, `${field}.sides[${place}].strategy`, strategy),
      candidates,
    })),
  };
}
