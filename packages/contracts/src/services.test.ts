import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { fileDescriptorSet } from "./descriptors.ts";
import { internalServices, publicServices, simpleServiceName } from "./services.ts";

const all = { ...publicServices, ...internalServices };

describe("the list of services", () => {
  it.each(Object.entries(all))("has %s under its own name", (fullName, definition) => {
    expect(definition.fullName).toBe(fullName);
    expect(definition.name).toBe(simpleServiceName(fullName));
  });

  it("has every service of the .proto files", () => {
    const { file } = fromBinary(FileDescriptorSetSchema, fileDescriptorSet());
    const declared = file.flatMap(({ package: name, service }) => service.map((each) => `${name}.${each.name}`));
    expect(declared.sort()).toEqual(Object.keys(all).sort());
  });

  it("has no two services with one simple name, because bus subjects use it", () => {
    expect(new Set(Object.keys(all).map(simpleServiceName)).size).toBe(Object.keys(all).length);
  });

  it("leaves a name without a package as it is", () => {
    expect(simpleServiceName("LeaseService")).toBe("LeaseService");
  });
});
