import { expect, it } from "vitest";
import { encodeMessage } from "./encode-message.ts";
import { LeaseServiceReleaseRequest } from "./gen/tenure/v1/lease.ts";

const request = (name: string) =>
  LeaseServiceReleaseRequest.fromPartial({ items: [{ lease: { namespace: "n", name }, token: 5n }] });

it("gives the bytes that the type itself gives, message after message, small and large", () => {
  const messages = ["a", "b".repeat(100_000), "c", "d".repeat(300)].map(request);
  const encoded = messages.map((message) => encodeMessage(LeaseServiceReleaseRequest, message));
  expect(encoded).toEqual(messages.map((message) => LeaseServiceReleaseRequest.encode(message).finish()));
});

it("adds fields that were encoded before", () => {
  const whole = LeaseServiceReleaseRequest.fromPartial({ ...request("a"), renewKey: new Uint8Array([1, 2, 3]) });
  const rest = encodeMessage(
    LeaseServiceReleaseRequest,
    LeaseServiceReleaseRequest.fromPartial({ ...whole, items: [] }),
  );
  const bytes = encodeMessage(LeaseServiceReleaseRequest, request("a"), rest);
  expect(LeaseServiceReleaseRequest.decode(bytes)).toEqual(
    LeaseServiceReleaseRequest.decode(LeaseServiceReleaseRequest.encode(whole).finish()),
  );
});

it("is not disturbed by a message that cannot be encoded", () => {
  const wrong = request("x");
  const broken = { ...wrong, endReason: 2 ** 40 } as typeof wrong;
  expect(() => encodeMessage(LeaseServiceReleaseRequest, broken)).toThrow();
  expect(encodeMessage(LeaseServiceReleaseRequest, wrong)).toEqual(LeaseServiceReleaseRequest.encode(wrong).finish());
});

it("has messages of usual size share memory, each with a place of its own", () => {
  const names = Array.from({ length: 2_000 }, (_, number) => `${number}-${"x".repeat(60)}`);
  const encoded = names.map((name) => encodeMessage(LeaseServiceReleaseRequest, request(name)));
  const read = encoded.map((bytes) => LeaseServiceReleaseRequest.decode(bytes).items[0]?.lease?.name);
  expect(read).toEqual(names);
  expect(new Set(encoded.map(({ buffer }) => buffer)).size).toBeLessThan(20);
});
