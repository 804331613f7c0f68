import { LeaseServiceGetRequest, LeaseServiceReleaseRequest, LeaseServiceUpdateRequest } from "@tenure/contracts";
import { expect, it } from "vitest";
import { casesOf } from "./cases.ts";
import { encode, encodeWithWrongType, valueAt, without, withValue } from "./request.ts";
import { samples } from "./samples.ts";
import { type Method, methods, placesOf } from "./schema.ts";
import type { World } from "./world.ts";

const lease = { namespace: "n", name: "a" };
const world: World = {
  free: lease,
  held: lease,
  token: 10n,
  renewKey: "AA==",
  revision: 9n,
  partition: 0,
  foreignToken: 20n,
  stood: lease,
  candidateRevision: 8n,
  pending: lease,
  pendingToken: 11n,
};

function methodNamed(name: string): Method {
  const found = methods.find((method) => method.name === name);
  if (found === undefined) throw new Error(`no method ${name}`);
  return found;
}

it("a value is put where it was not, and taken from where it was", () => {
  const path = ["items", 0, "lease", "name"];
  const made = withValue({}, path, "a");
  expect(made).toEqual({ items: [{ lease: { name: "a" } }] });
  expect(valueAt(made, path)).toBe("a");
  expect(without(made, path)).toEqual({ items: [{ lease: {} }] });
  expect(without(made, ["items", 0])).toEqual({ items: [] });
  expect(without(made, ["items"])).toEqual({});
});

it("a field of a wrong type has its own number, another wire type and no value that a reader would take", () => {
  const release = methodNamed("LeaseService.Release");
  const request = { items: [{ lease, token: "7" }] };
  const place = placesOf(release.input).find(({ path }) => path.join() === "items,0,token");
  if (place === undefined) throw new Error("no token");
  const bytes = encodeWithWrongType(release, request, place);
  expect(bytes).not.toEqual(encode(release, request));
  expect(LeaseServiceReleaseRequest.decode(bytes).items).toMatchObject([{ lease, token: 0n }]);
});

it("every call has cases, and one for each flaw that its request can have", () => {
  for (const method of methods) {
    const sample = samples[method.name];
    if (sample === undefined) throw new Error(`no sample of ${method.name}`);
    expect(casesOf(method, sample, world).length, method.name).toBeGreaterThan(10);
  }
  const update = methodNamed("LeaseService.Update");
  const flaws = casesOf(update, samples[update.name] ?? { make: () => ({}) }, world);
  expect(new Set(flaws.map(({ flaw }) => flaw))).toEqual(
    new Set([
      "missing",
      "wrong type",
      "unknown enum value",
      "over-long",
      "wildcard",
      "negative duration",
      "stale revision",
    ]),
  );
  const stale = flaws.filter(({ flaw }) => flaw === "stale revision").map(({ request }) => request);
  expect(stale.map((bytes) => LeaseServiceUpdateRequest.decode(bytes).expectedRevision)).toEqual([1n, 8n, 1_009n]);
});

it("a missing field is missing, and nothing else is", () => {
  const get = methodNamed("LeaseService.Get");
  const missing = casesOf(get, samples[get.name] ?? { make: () => ({}) }, world).filter(
    ({ flaw }) => flaw === "missing",
  );
  const decoded = missing.map(({ field, request }) => [field, LeaseServiceGetRequest.decode(request).lease]);
  expect(decoded).toEqual([
    ["lease", undefined],
    ["lease.namespace", { namespace: "", name: "a" }],
    ["lease.name", { namespace: "n", name: "" }],
  ]);
});
