import {
  MigrationServiceDeleteRequest,
  MigrationServiceGetRequest,
  MigrationServiceListRequest,
  MigrationServiceValidateRequest,
  ReadConsistency,
} from "@tenure/contracts";
import type { Deployment } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { documentOf, faultOf, MigrationDesk, meaningOf } from "./migration-desk.ts";
import { any, cloud, kube, toCloud, withAny } from "./two-managers.ts";

/** What the migration service does with documents. */
export function describeDocuments(deployment: () => Deployment): void {
  describe("documents", () => {
    it("[112] [114] are checked with line, field and rule, all at once, and change nothing", async () => {
      const document = documentOf("moves", { route: "''", rout: "*", service: "*" });
      const request = MigrationServiceValidateRequest.fromPartial({
        namespace: "documents",
        document,
        knownControllers: ["node-route", "service"],
        aliases: { route: "node-route" },
      });
      const { configuration, findings, valid } = await deployment().migrations.validate(request);
      expect({ configuration, valid }).toEqual({ configuration: undefined, valid: false });
      expect(findings.map(({ field, line, rule }) => `${line} ${field} ${rule}`)).toEqual([
        "5 controllerLeaders[0].name is a former name: write node-route",
        "6 controllerLeaders[0].component must not be empty",
        "7 controllerLeaders[1].name must be a known controller: node-route, service",
      ]);
      const refused = await faultOf(new MigrationDesk(deployment(), "documents").apply(document));
      expect(refused).toMatchObject({ code: "INVALID_ARGUMENT", reason: "DOCUMENT_INVALID" });
      expect(refused.details.violations).toEqual([
        { field: "controllerLeaders[0].component", rule: "line 6: must not be empty", value: "" },
      ]);
    });

    it("are in force once applied, shown, listed, compared by revision, and ended", async () => {
      const desk = new MigrationDesk(deployment(), "life");
      const named = { namespace: "life", name: "moves" };
      const { configuration: tried } = await desk.apply(any, { dryRun: true });
      expect(tried).toMatchObject({ name: "moves", lock: { namespace: "life", name: "moves" } });
      const read = { consistency: ReadConsistency.LINEARIZABLE };
      const get = () => deployment().migrations.get(MigrationServiceGetRequest.fromPartial({ ...named, read }));
      expect((await faultOf(get())).reason).toBe("CONFIGURATION_NOT_FOUND");
      const { configuration } = await desk.apply(any, { expectedRevision: 0n, coordinated: true });
      expect((await faultOf(desk.apply(any, { expectedRevision: 0n }))).reason).toBe("REVISION_CONFLICT");
      expect(configuration).toMatchObject({ author: "test", coordinated: true, document: any, resourceLock: "leases" });
      expect((await get()).configuration).toEqual(configuration);
      await desk.apply(documentOf("others", { volume: "*" }));
      const listOf = async (token: string) =>
        deployment().migrations.list(
          MigrationServiceListRequest.fromPartial({ namespace: "life", read, page: { size: 1, token } }),
        );
      const first = await listOf("");
      const second = await listOf(first.page?.nextToken ?? "");
      expect([...first.configurations, ...second.configurations].map(({ name }) => name)).toEqual(["moves", "others"]);
      expect(second.page?.nextToken).toBe("");
      await deployment().migrations.delete(MigrationServiceDeleteRequest.fromPartial(named));
      expect((await faultOf(get())).reason).toBe("CONFIGURATION_NOT_FOUND");
    });

    it("name each controller under one lock, keep a held lock's set, and not a primary lock", async () => {
      const desk = new MigrationDesk(deployment(), "sets");
      const { warnings } = await desk.apply(any);
      expect(warnings).toEqual([]);
      const overlap = await faultOf(desk.apply(documentOf("second", { volume: "*", service: "*" })));
      expect(overlap.reason).toBe("DOCUMENT_INVALID");
      expect(overlap.message).toBe(
        'line 7: controllerLeaders[1].name: must be under one lock: configuration moves has it (is "service")',
      );
      const token = await desk.claim("moves", { ...kube, ...withAny });
      const immutable = await faultOf(desk.apply(documentOf("moves", { route: "*" })));
      expect(immutable).toMatchObject({ code: "FAILED_PRECONDITION", reason: "IMMUTABLE" });
      expect(immutable.message).toContain("lacks service");
      await desk.apply(toCloud); // Where they run may change while it is held.
      await desk.release("moves", token);
      await desk.apply(documentOf("moves", { route: "*" }));
      await desk.report({ ...kube, controllers: [] });
      expect((await faultOf(desk.apply(documentOf("kube", { volume: "*" })))).message).toContain("primary lock");
    });

    it("are replaced only as they were judged, and answered by what was recorded when they are asked again", async () => {
      const desk = new MigrationDesk(deployment(), "again");
      const attempt = (number: bigint) => ({ attempt: { clientId: "again", number, settledBelow: number } });
      const first = await desk.apply(any, attempt(1n));
      expect((await desk.apply(any, attempt(1n))).configuration?.revision).toBe(first.configuration?.revision);
      const end = MigrationServiceDeleteRequest.fromPartial({ namespace: "again", name: "moves", ...attempt(2n) });
      await deployment().migrations.delete(end);
      await deployment().migrations.delete(end);
      const another = { ...end, ...attempt(3n) };
      expect((await faultOf(deployment().migrations.delete(another))).reason).toBe("CONFIGURATION_NOT_FOUND");
      // A lock that was taken while nothing was in force keeps to what its holder runs with.
      const token = await desk.claim("moves", { ...kube, ...withAny });
      expect((await faultOf(desk.apply(documentOf("moves", { route: "*" })))).reason).toBe("IMMUTABLE");
      await desk.apply(any);
      await desk.release("moves", token);
    });
  });

  describe("the lock of a configuration", () => {
    it("goes only to a release that the configuration in force lets, which is decided where grants are", async () => {
      const desk = new MigrationDesk(deployment(), "locks");
      const ranged = `apiVersion: tenure.dev/v1\nkind: LeaderMigrationConfiguration\nleaderName: moves\ncontrollerLeaders:\n- {name: route, component: kube, versionRange: ">=1.21.0 <1.22.0"}\n`;
      await desk.apply(ranged);
      const configurations = [meaningOf(ranged)];
      expect((await faultOf(desk.claim("moves", { ...cloud, configurations }))).reason).toBe("NOT_ELIGIBLE");
      expect((await faultOf(desk.claim("moves", { ...kube, version: "1.22.0", configurations }))).reason).toBe(
        "NOT_ELIGIBLE",
      );
      expect((await faultOf(desk.claim("moves", { ...kube, ...withAny }))).reason).toBe("CONFIGURATION_DISAGREES");
      expect((await faultOf(desk.claim("moves", kube))).reason).toBe("CONFIGURATION_DISAGREES");
      const token = await desk.claim("moves", { ...kube, configurations });
      expect(token).toBeGreaterThan(0n);
      // Across releases another component may hold it; who holds it now prevents that until it goes.
      await desk.apply(documentOf("moves", { route: "cloud" }));
      const next = { ...cloud, configurations: [meaningOf(documentOf("moves", { route: "cloud" }))] };
      expect((await faultOf(desk.claim("moves", next))).reason).toBe("LEASE_HELD");
      await desk.release("moves", token);
      expect(await desk.claim("moves", next)).toBeGreaterThan(token);
    });
  });
}
