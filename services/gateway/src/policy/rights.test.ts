import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import {
  CandidateServiceWatchRequest,
  fileDescriptorSet,
  IdentityServiceHeartbeatRequest,
  IdentityServiceRegisterRequest,
  LeaseServiceAcquireRequest,
  LeaseServiceGetRequest,
  LeaseServiceKeepAliveRequest,
  LeaseServiceListRequest,
  LeaseServiceRenewRequest,
  LeaseServiceWatchRequest,
  MigrationServiceJoinRequest,
  MigrationServiceListRequest,
  publicServices,
} from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { methodRights } from "./rights.ts";

const rights = methodRights({ identityNamespace: "tenure-identities" });

/** Every method of every service of the public API, by the API's own description. */
function described(): readonly string[] {
  const { file } = fromBinary(FileDescriptorSetSchema, fileDescriptorSet());
  return file
    .filter((one) => one.package === "tenure.v1")
    .flatMap(({ service }) => service.flatMap(({ method, name }) => method.map((one) => `${name}.${one.name}`)));
}

function targets(method: string, encoded: { finish(): Uint8Array }) {
  return rights.get(method)?.targetsOf(encoded.finish());
}

const a = { namespace: "n", name: "a" };
const b = { namespace: "m", name: "b" };
const everything = { namespace: "" };

describe("the table of rights", () => {
  it("has a verb for every method of the public API, and none for what is not in it", () => {
    const methods = described();
    expect(methods.length).toBeGreaterThan(50);
    expect([...rights.keys()].toSorted()).toEqual(methods.toSorted());
    const generated = Object.values(publicServices).flatMap((service) =>
      Object.values(service.methods).map(({ name }) => `${service.name}.${name}`),
    );
    expect(generated.toSorted()).toEqual(methods.toSorted());
    expect(methods.filter((method) => rights.get(method)?.verb === undefined)).toEqual(["SessionService.Session"]);
  });

  it("asks for everything that an empty request could mean, but for streams that only say that they live", () => {
    const silent = ["LeaseService.KeepAlive", "IdentityService.Heartbeat", "MigrationService.Join"];
    for (const [method, right] of rights) {
      const found = right.targetsOf(new Uint8Array(0));
      if ([...silent, "SessionService.Session"].includes(method)) expect(found).toEqual([]);
      else if (method.startsWith("IdentityService.")) expect(found).toEqual([{ namespace: "tenure-identities" }]);
      else expect([method, found]).toEqual([method, [everything]]);
    }
  });

  it("looks at every lease that a call names", () => {
    const claims = [{ lease: a }, { lease: b }];
    const acquire = LeaseServiceAcquireRequest.encode(LeaseServiceAcquireRequest.fromPartial({ claims }));
    expect(targets("LeaseService.Acquire", acquire)).toEqual([a, b]);
    const renewals = [{ lease: a }, {}, { lease: b }];
    const renew = LeaseServiceRenewRequest.encode(LeaseServiceRenewRequest.fromPartial({ renewals }));
    expect(targets("LeaseService.Renew", renew)).toEqual([a, everything, b]);
    const keepAlive = LeaseServiceKeepAliveRequest.encode(LeaseServiceKeepAliveRequest.fromPartial({ renewals }));
    expect(targets("LeaseService.KeepAlive", keepAlive)).toEqual([a, everything, b]);
  });

  it("takes the last of a field that is sent twice, as the services do", () => {
    const encode = (lease: typeof a) =>
      LeaseServiceGetRequest.encode(LeaseServiceGetRequest.fromPartial({ lease })).finish();
    const twice = Buffer.concat([encode(a), encode(b)]);
    expect(rights.get("LeaseService.Get")?.targetsOf(twice)).toEqual([b]);
  });

  it("tells selectors of a name, of a beginning, of a namespace and of everything apart", () => {
    const selectors = [
      { namespace: "n", name: "a" },
      { namespace: "n", namePrefix: "a" },
      { namespace: "n" },
      { name: "a" },
      {},
    ];
    const wanted = [
      { namespace: "n", name: "a" },
      { namespace: "n", name: "a", isPrefix: true },
      { namespace: "n" },
      everything,
      everything,
    ];
    const watch = LeaseServiceWatchRequest.encode(LeaseServiceWatchRequest.fromPartial({ selectors }));
    expect(targets("LeaseService.Watch", watch)).toEqual(wanted);
    const ofCandidates = { selectors: selectors.map((lease) => ({ lease })) };
    const candidates = CandidateServiceWatchRequest.encode(CandidateServiceWatchRequest.fromPartial(ofCandidates));
    expect(targets("CandidateService.Watch", candidates)).toEqual(wanted);
    selectors.forEach((selector, place) => {
      const list = LeaseServiceListRequest.encode(LeaseServiceListRequest.fromPartial({ selector }));
      expect(targets("LeaseService.List", list)).toEqual([wanted[place]]);
    });
  });

  it("knows identities in their namespace and migrations in theirs", () => {
    const register = IdentityServiceRegisterRequest.encode(IdentityServiceRegisterRequest.fromPartial({ id: "i" }));
    expect(targets("IdentityService.Register", register)).toEqual([{ namespace: "tenure-identities", name: "i" }]);
    const beats = [{ id: "i" }, { id: "j" }];
    const heartbeat = IdentityServiceHeartbeatRequest.encode(IdentityServiceHeartbeatRequest.fromPartial({ beats }));
    expect(targets("IdentityService.Heartbeat", heartbeat)).toEqual([
      { namespace: "tenure-identities", name: "i" },
      { namespace: "tenure-identities", name: "j" },
    ]);
    const join = MigrationServiceJoinRequest.fromPartial({ participant: { instance: "x", primary: a } });
    expect(targets("MigrationService.Join", MigrationServiceJoinRequest.encode(join))).toEqual([a]);
    const list = MigrationServiceListRequest.encode(MigrationServiceListRequest.fromPartial({ namespace: "n" }));
    expect(targets("MigrationService.List", list)).toEqual([{ namespace: "n" }]);
  });

  it("refuses bytes that are no request", () => {
    expect(() => rights.get("LeaseService.Get")?.targetsOf(Buffer.from([0xff, 0xff]))).toThrow("is no message");
  });
});
