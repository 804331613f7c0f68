import { EventEmitter } from "node:events";
import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { fileDescriptorSet } from "@tenure/contracts";
import { FakeClock } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { ConnectionLimits } from "../front/connection-limits.ts";
import { DescriptorIndex } from "./descriptor-index.ts";
import { decodeQuestion, encodeAnswer, type ReflectionQuestion } from "./reflection-codec.ts";
import { answerTo, reflectionFront } from "./reflection-service.ts";

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

class FakeCall extends EventEmitter {
  readonly written: Uint8Array[] = [];
  readonly told: string[] = [];
  isFull = false;

  getPeer = () => "peer";
  pause = () => void this.told.push("pause");
  resume = () => void this.told.push("resume");
  end = () => void this.told.push("end");

  write(bytes: Uint8Array): boolean {
    this.written.push(bytes);
    return !this.isFull;
  }
}

describe("a reflection stream", () => {
  function setUp(requestsPerSecond = 0) {
    const connections = new ConnectionLimits({ clock: new FakeClock(), streamsPerConnection: 1, requestsPerSecond });
    const stop = new AbortController();
    const context = { connections, maxRequestBytes: 1_000, onMistake: () => {}, stop: stop.signal };
    const handle = reflectionFront(() => ({ kind: "services", names: services }), context);
    const open = () => {
      const call = new FakeCall();
      call.on("error", ({ details }: { readonly details: string }) => call.told.push(details));
      handle(call as never);
      return call;
    };
    return { open, stop };
  }

  it("is not read from while its client does not read", () => {
    const call = setUp().open();
    call.isFull = true;
    call.emit("data", Buffer.from([0x3a, 0x00]));
    expect([call.written.length, call.told]).toEqual([1, ["pause"]]);
    call.emit("drain");
    call.emit("end");
    expect(call.told).toEqual(["pause", "resume", "end"]);
  });

  it("is one of the calls that a connection may have open, and ends when the gateway stops", () => {
    const { open, stop } = setUp();
    const first = open();
    expect(open().told).toEqual([expect.stringContaining("calls of this connection are open")]);
    stop.abort();
    expect(first.told).toEqual([expect.stringContaining("stopping")]);
    expect(open().told).toEqual([]);
  });

  it("may not ask too fast, or too much at once", () => {
    const { open } = setUp(2);
    const call = open();
    for (let at = 0; at < 2; at += 1) call.emit("data", Buffer.from([0x3a, 0x00]));
    expect([call.written.length, call.told]).toEqual([1, [expect.stringContaining("more than 2 calls a second")]]);
    const large = setUp().open();
    large.emit("data", Buffer.alloc(1_001));
    expect(large.told).toEqual([expect.stringContaining("over the limit of 1000")]);
  });
});
