import { describe, expect, it } from "vitest";
import { clientUnderTest } from "../testing/client-under-test.ts";
import { refusal, unavailable } from "../testing/scripted-session.ts";
import { ClientMetrics } from "./client-metrics.ts";
import type { TraceAttributes } from "./tracer.ts";

describe("the metrics of a client", () => {
  it("are text that Prometheus reads, with every label escaped", () => {
    const metrics = new ClientMetrics();
    metrics.of('a/"b"\\').terms += 2;
    const text = metrics.text();
    expect(text).toContain('tenure_sdk_terms_total{name="a/\\"b\\"\\\\"} 2\n');
    expect(text).toContain('tenure_sdk_terms_ended_total{name="a/\\"b\\"\\\\",why="end-of-term"} 0\n');
    for (const line of text.trimEnd().split("\n")) {
      expect(line).toMatch(/^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+\{name=".*"\} \d+)$/);
    }
  });

  it("are a copy when read as numbers", () => {
    const metrics = new ClientMetrics();
    metrics.of("a/b").ended.stopped += 1;
    const before = metrics.snapshot();
    metrics.of("a/b").ended.stopped += 1;
    expect(before["a/b"]?.ended.stopped).toBe(1);
  });

  it("count terms, their ends and failed claims; locks by namespace", async () => {
    const { client, session } = clientUnderTest();
    const leading = client.lead("a/b", { once: true }, () => undefined);
    await session.clock.advance(0);
    session.lastClaim.fail(unavailable());
    await session.clock.advance(0);
    await session.clock.advance(220);
    session.lastClaim.grant();
    await leading;
    const taking = client.lock("jobs/1");
    session.lastClaim.grant();
    await (await taking)[Symbol.asyncDispose]();
    expect(client.metrics.snapshot()).toMatchObject({
      "a/b": { terms: 1, claimsFailed: 1, leading: 0, ended: { released: 1 } },
      "jobs/*": { terms: 1, ended: { released: 1 } },
    });
  });
});

describe("the status of locks", () => {
  it("counts those that are held now", async () => {
    const { client, session } = clientUnderTest();
    const taking = [client.lock("jobs/1"), client.lock("jobs/2")];
    for (const claim of session.claims) claim.grant();
    const [first, second] = await Promise.all(taking);
    expect(client.metrics.of("jobs/*").leading).toBe(2);
    await first?.release();
    expect(client.metrics.of("jobs/*").leading).toBe(1);
    session.kept[1]?.listener.onRefused(refusal("FENCED"));
    expect(client.metrics.of("jobs/*").leading).toBe(0);
    await second?.release();
    expect(client.metrics.of("jobs/*").leading).toBe(0);
  });
});

describe("a tracer", () => {
  it("gets a span for the claim and one for the term, with what happened to it", async () => {
    const told: string[] = [];
    const start = (name: string, attributes: TraceAttributes) => {
      told.push(`${name} ${attributes["tenure.lease"]}`);
      return {
        event: (event: string) => void told.push(`${name} ${event}`),
        end: (error?: Error) => void told.push(`${name} ${error === undefined ? "ends" : "fails"}`),
      };
    };
    const { client, session } = clientUnderTest({ tracer: { start } });
    const taking = client.lock("jobs/1", { onOverrun: "signal-only" });
    session.lastClaim.grant();
    const lock = await taking;
    session.lastKept.listener.onMissed(unavailable());
    await session.clock.advance(2_000);
    await lock[Symbol.asyncDispose]();
    expect(told).toEqual([
      "tenure.claim jobs/1",
      "tenure.claim ends",
      "tenure.term jobs/1",
      "tenure.term at-risk",
      "tenure.term signal",
      "tenure.term lost",
      "tenure.term fails",
    ]);
  });
});
