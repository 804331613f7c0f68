import { describe, expect, it } from "vitest";
import type { Field } from "./field.ts";
import { parseValue } from "./parse-value.ts";

const doc = "A field.";
const duration: Field = { kind: "duration", min: "1s", max: "1m", doc };
const integer: Field = { kind: "integer", min: -2, max: 10, doc };
const pattern = { expression: /^[a-z]+$/, rule: "must be small letters" };

describe("parseValue", () => {
  it.each<[Field, unknown, unknown]>([
    [{ kind: "string", doc }, "", ""],
    [{ kind: "string", doc }, 42, "42"],
    [{ kind: "string", doc, pattern }, "abc", "abc"],
    [{ kind: "secret", doc }, "x", "x"],
    [{ kind: "path", doc }, "/a b", "/a b"],
    [duration, "1m", 60_000],
    [{ kind: "duration", doc }, 0, 0],
    [integer, "-2", -2],
    [integer, 10, 10],
    [{ kind: "boolean", default: false, doc }, true, true],
    [{ kind: "boolean", default: true, doc }, "false", false],
    [{ kind: "choice", choices: ["a", "b"], doc }, "b", "b"],
    [{ kind: "list", doc }, "a, b,c", ["a", "b", "c"]],
    [{ kind: "list", doc }, ["a", "b,c"], ["a", "b", "c"]],
  ])("%j reads %j", (field, raw, value) => {
    expect(parseValue(field, raw)).toEqual({ kind: "value", value });
  });

  it.each<[Field, unknown, string]>([
    [{ kind: "string", doc }, [], "must be text"],
    [{ kind: "string", doc, pattern }, "ABC", "must be small letters"],
    [{ kind: "path", doc }, "", "must be text that is not empty"],
    [duration, "999ms", "must be at least 1s"],
    [duration, "61s", "must be at most 1m"],
    [duration, 10, "must be a duration such as 250ms, 10s, 1m30s or 1h"],
    [duration, "10", "must be a duration such as 250ms, 10s, 1m30s or 1h"],
    [integer, "11", "must be a whole number from -2 to 10"],
    [integer, "1.5", "must be a whole number from -2 to 10"],
    [integer, 1.5, "must be a whole number from -2 to 10"],
    [integer, "", "must be a whole number from -2 to 10"],
    [integer, true, "must be a whole number from -2 to 10"],
    [{ kind: "boolean", default: false, doc }, "1", "must be true or false"],
    [{ kind: "choice", choices: ["a", "b"], doc }, "c", "must be one of a, b"],
    [{ kind: "list", doc }, "a,,b", "must be a list without empty items"],
    [{ kind: "list", doc }, "", "must be a list without empty items"],
    [{ kind: "list", doc }, [{}], "must be a list of texts"],
    [{ kind: "list", doc, pattern }, "a,B", "must be small letters"],
  ])("%j refuses %j: %s", (field, raw, rule) => {
    expect(parseValue(field, raw)).toEqual({ kind: "broken", rule });
  });
});
