import { describe, expect, it } from "vitest";
import { parseSamples, quantileBound, total } from "./metrics.ts";

const before = `# HELP lag_seconds x
lag_seconds_bucket{le="0.1",service="a"} 5
lag_seconds_bucket{le="1",service="a"} 5
lag_seconds_bucket{le="+Inf",service="a"} 5
ended_total{service="a"} 5
`;
const after = `lag_seconds_bucket{le="0.1",service="a"} 103
lag_seconds_bucket{le="1",service="a"} 105
lag_seconds_bucket{le="+Inf",service="a"} 105
ended_total{service="a"} 105
`;

describe("samples of a process", () => {
  it("are read by name and labels, and summed over labels", () => {
    expect(parseSamples(before).get('lag_seconds_bucket{le="1",service="a"}')).toBe(5);
    expect(total(parseSamples(`${after}ended_total{service="b"} 1\n`), "ended_total")).toBe(106);
    expect(total(parseSamples(after), "ended")).toBe(0);
  });

  it("give the bound of a quantile of what was observed in between", () => {
    const samples = [parseSamples(before), parseSamples(after)] as const;
    expect(quantileBound(...samples, "lag_seconds", 0.98)).toBe(0.1);
    expect(quantileBound(...samples, "lag_seconds", 0.99)).toBe(1);
    expect(quantileBound(samples[0], samples[0], "lag_seconds", 0.99)).toBeUndefined();
  });
});
