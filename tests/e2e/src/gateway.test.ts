import { once } from "node:events";
import { Client, credentials, status as grpcCodes, type ServiceError } from "@grpc/grpc-js";
import { type TempDirectory, tempDirectory, waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { faultOf } from "./grpc.ts";
import { type Launched, launch } from "./launch.ts";

let folder: TempDirectory;
let system: Launched;
let client: Client;

beforeAll(async () => {
  folder = await tempDirectory();
  system = await launch(folder.path, ["--scale", "gateway=2"]);
  client = new Client(system.grpc, credentials.createInsecure());
}, 180_000);

afterAll(async () => {
  client?.close();
  await system?.[Symbol.asyncDispose]();
  await folder?.[Symbol.asyncDispose]();
}, 120_000);

const pass = (bytes: Buffer): Buffer => bytes;

/** A unary call of raw bytes. */
function callBytes(path: string, request: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, pass, pass, request, { deadline: Date.now() + 30_000 }, (error, response) =>
      error === null ? resolve(response as Buffer) : reject(error),
    );
  });
}

describe("the gateway", () => {
  it("answers the standard health service for the whole and for each service", async () => {
    const serving = Buffer.from([0x08, 0x01]); // status = SERVING
    await waitFor(async () => (await callBytes("/grpc.health.v1.Health/Check", Buffer.alloc(0))).equals(serving));
    const name = Buffer.from("tenure.v1.LeaseService");
    const request = Buffer.concat([Buffer.from([0x0a, name.length]), name]); // service = name
    expect(await callBytes("/grpc.health.v1.Health/Check", request)).toEqual(serving);
  });

  it("lists every service of the API by reflection", async () => {
    const stream = client.makeBidiStreamRequest(
      "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
      pass,
      pass,
    );
    stream.write(Buffer.from([0x3a, 0x00])); // list_services = ""
    const [answer] = (await once(stream, "data")) as [Buffer];
    stream.end();
    for (const service of ["Lease", "Guard", "Candidate", "Election", "Identity", "Migration", "Session", "System"]) {
      expect(answer.toString("latin1")).toContain(`tenure.v1.${service}Service`);
    }
  });

  it("refuses a malformed message with INVALID_ARGUMENT, from the service behind the bus", async () => {
    const refused = await callBytes("/tenure.v1.SystemService/Doctor", Buffer.from([0xff, 0xff])).catch(
      (error) => error,
    );
    expect(faultOf(refused)).toMatchObject({ code: "INVALID_ARGUMENT", reason: "MALFORMED_MESSAGE" });
  });

  it("refuses a message over 64 KiB before it reaches the bus", async () => {
    const large = Buffer.alloc(64 * 1024 + 1);
    const refused: ServiceError = await callBytes("/tenure.v1.SystemService/Status", large).catch((error) => error);
    expect(refused.code).toBe(grpcCodes.RESOURCE_EXHAUSTED);
  });

  it("ends a stream whose message breaks a rule with the rule", async () => {
    const stream = client.makeBidiStreamRequest("/tenure.v1.MigrationService/Join", pass, pass);
    stream.on("data", () => undefined);
    stream.write(Buffer.alloc(0));
    const [error] = (await once(stream, "error").catch((thrown) => [thrown])) as [ServiceError];
    expect([error.code, faultOf(error).reason]).toEqual([grpcCodes.INVALID_ARGUMENT, "INVALID_FIELD"]);
  });
});
