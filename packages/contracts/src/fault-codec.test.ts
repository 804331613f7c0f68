import { Fault, type FaultCode, type FaultDetails, faultCodes, invalid } from "@tenure/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeStatusDetails, encodeStatusDetails, failureFromFault, faultFromFailure } from "./fault-codec.ts";
import { Failure } from "./gen/tenure/bus/v1/failure.ts";
import { CallFailure, ErrorDetail, ErrorReason, RpcStatus } from "./gen/tenure/v1/error.ts";

const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const anyCode = fc.constantFrom(...(Object.keys(faultCodes) as FaultCode[]));
const anyReason = fc.oneof(
  fc.constantFrom(...Object.keys(ErrorReason).filter((name) => name !== "UNSPECIFIED" && name !== "UNRECOGNIZED")),
  fc.stringMatching(/^[A-Z][A-Z_]{0,40}$/),
);
/** A plain object cannot have `__proto__` as a key of its own by assignment, so decoding drops that one name. */
const anyAttributeName = fc.string().filter((name) => name !== "__proto__");
const anyDetails = fc.record(
  {
    violations: fc.array(fc.record({ field: fc.string(), rule: fc.string(), value: fc.string() }), { minLength: 1 }),
    lease: fc.string(),
    holder: fc.string(),
    token: uint64,
    revision: uint64,
    successor: fc.string(),
    retryAfterMs: fc.nat(),
    applied: fc.constantFrom("NO" as const, "UNKNOWN" as const),
    limit: fc.record({ name: fc.string(), value: uint64 }),
    attributes: fc.dictionary(anyAttributeName, fc.string(), { minKeys: 1, noNullPrototype: true }),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<FaultDetails>;

const anyFault = fc
  .record({ code: anyCode, reason: anyReason, message: fc.string(), details: anyDetails })
  .map((input) => new Fault(input));

function parts({ code, reason, message, details }: Fault) {
  return { code, reason, message, details };
}

function overTheBus(fault: Fault): Fault {
  return faultFromFailure(Failure.decode(Failure.encode(failureFromFault(fault)).finish()));
}

describe("a fault on the wire", () => {
  it("comes back whole from the bus", () => {
    fc.assert(
      fc.property(anyFault, (fault) => {
        expect(parts(overTheBus(fault))).toEqual(parts(fault));
      }),
    );
  });

  it("comes back whole from gRPC's details trailer", () => {
    fc.assert(
      fc.property(anyFault, (fault) => {
        expect(parts(decodeStatusDetails(encodeStatusDetails(fault)))).toEqual(parts(fault));
      }),
    );
  });

  it("passes as the failure inside a message, byte for byte", () => {
    const failure = failureFromFault(invalid([{ field: "lease.name", rule: "must not be empty", value: '""' }]));
    expect(CallFailure.encode(failure).finish()).toEqual(Failure.encode(failure).finish());
  });

  it("carries its reason as a number and as text", () => {
    const fault = new Fault({ code: "FAILED_PRECONDITION", reason: "FENCED", message: "token 7 is older than 9" });
    expect(failureFromFault(fault).detail).toMatchObject({ reason: ErrorReason.FENCED, reasonName: "FENCED" });
  });

  it("keeps a reason that has no number", () => {
    const fault = new Fault({ code: "INTERNAL", reason: "CACHE_NOT_WRITABLE", message: "no" });
    expect(failureFromFault(fault).detail?.reason).toBe(ErrorReason.UNSPECIFIED);
    expect(overTheBus(fault).reason).toBe("CACHE_NOT_WRITABLE");
  });

  it("keeps the number of a newer sender's reason, however often it is passed on", () => {
    const detail = ErrorDetail.fromPartial({ reason: 9999 as ErrorReason });
    const once = faultFromFailure({ code: 9, message: "newer", detail });
    expect(once.reason).toBe("REASON_9999");
    expect(failureFromFault(overTheBus(once)).detail?.reason).toBe(9999);
  });

  it.each(["constructor", "__proto__", "UNRECOGNIZED", "UNSPECIFIED"])(
    "takes %s for a name like any other",
    (reason) => {
      const fault = new Fault({ code: "UNKNOWN", reason, message: "odd" });
      expect(failureFromFault(fault).detail?.reason).toBe(ErrorReason.UNSPECIFIED);
      expect(overTheBus(fault).reason).toBe(reason);
    },
  );

  it("leaves its cause behind", () => {
    const fault = new Fault({ code: "INTERNAL", reason: "INTERNAL", message: "broke", cause: new Error("secret") });
    expect(overTheBus(fault).cause).toBeUndefined();
  });

  it("of a foreign sender takes its code's name as reason", () => {
    expect(parts(faultFromFailure({ code: 14, message: "gone", detail: undefined }))).toEqual({
      code: "UNAVAILABLE",
      reason: "UNAVAILABLE",
      message: "gone",
      details: {},
    });
  });

  it("with a code that gRPC does not have is UNKNOWN", () => {
    expect(faultFromFailure({ code: 77, message: "odd", detail: undefined }).code).toBe("UNKNOWN");
  });

  it("is found among details of other types", () => {
    const fault = new Fault({ code: "NOT_FOUND", reason: "LEASE_NOT_FOUND", message: "no lease a/b" });
    const status = RpcStatus.decode(encodeStatusDetails(fault));
    const foreign = { typeUrl: "type.googleapis.com/google.rpc.RetryInfo", value: new Uint8Array([1, 2, 3]) };
    const bytes = RpcStatus.encode({ ...status, details: [foreign, ...status.details] }).finish();
    expect(parts(decodeStatusDetails(bytes))).toEqual(parts(fault));
  });
});
