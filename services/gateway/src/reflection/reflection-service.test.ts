import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { fileDescriptorSet } from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { DescriptorIndex } from "./descriptor-index.ts";
import { decodeQuestion, encodeAnswer, type ReflectionQuestion } from "./reflection-codec.ts";
import { answerTo } from "./reflection-service.ts";

const index = new DescriptorIndex(fileDescriptorSet());
const services = ["tenure.v1.LeaseService"];

function filesFor(question: ReflectionQuestion) {
  const answer = answerTo(index, services, question);
  if (answer.kind !== "files") throw new Error(JSON.stringify(answer));
  return answer.files.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
}

describe("the reflection service", () => {
  it.each([
    "tenure.v1.LeaseService",
    "tenure.v1.LeaseService.Acquire",
    "tenure.v1.LeaseServiceReleaseRequest.Item",
    "tenure.v1.ErrorReason",
  ])("gives the file of %s first, and everything that it imports, each once", (name) => {
    const files = filesFor({ kind: "symbol", name });
    const known = new Set(files.map((file) => file.name));
    expect(known.size).toBe(files.length);
    expect(files.flatMap(({ dependency }) => dependency).every((each) => known.has(each))).toBe(true);
    expect(index.fileOf(name)).toBe(files[0]?.name);
  });

  it("gives a file by its name, and lists what is served", () => {
    expect(filesFor({ kind: "file", name: "tenure/v1/key.proto" })[0]?.package).toBe("tenure.v1");
    expect(answerTo(index, services, { kind: "services" })).toEqual({ kind: "services", names: services });
  });

  it("answers what does not exist with an error inside the stream", () => {
    expect(answerTo(index, services, { kind: "symbol", name: "no.Such" })).toMatchObject({ kind: "error", code: 5 });
    expect(answerTo(index, services, { kind: "extension", name: "x" })).toMatchObject({ kind: "error", code: 5 });
    expect(answerTo(index, services, { kind: "none" })).toMatchObject({ kind: "error", code: 3 });
  });

  it("reads questions and skips what it does not know", () => {
    const text = (field: number, value: string) => [(field << 3) | 2, value.length, ...Buffer.from(value)];
    const read = (...bytes: number[]) => decodeQuestion(Uint8Array.from(bytes));
    expect(read(...text(1, "host"), ...text(4, "a.B"))).toEqual({ kind: "symbol", name: "a.B" });
    expect(read(...text(3, "a.proto"))).toEqual({ kind: "file", name: "a.proto" });
    expect(read(0x38, 0x01, ...text(7, ""))).toEqual({ kind: "services" });
    expect(read()).toEqual({ kind: "none" });
    expect(() => read(0x22, 0x7f)).toThrow();
  });

  it("repeats the question in its answer", () => {
    const asked = Uint8Array.of(0x3a, 0x00);
    expect([...encodeAnswer(asked, { kind: "services", names: ["a"] })]).toEqual([
      0x12, 2, 0x3a, 0, 0x32, 5, 0x0a, 3, 0x0a, 1, 0x61,
    ]);
  });
});
