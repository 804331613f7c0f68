import type { ServiceDefinition as GrpcService, handleBidiStreamingCall } from "@grpc/grpc-js";
import { Fault, faultCodes } from "@tenure/kernel";
import { assertSize, type FrontContext, faultFor, stopping } from "../front/front-context.ts";
import { asBuffer } from "../front/front-service.ts";
import type { Bytes } from "../front/grpc-definition.ts";
import type { GrpcEntry } from "../front/grpc-server.ts";
import { grpcStatus } from "../front/grpc-status.ts";
import { DescriptorIndex } from "./descriptor-index.ts";
import { decodeQuestion, encodeAnswer, type ReflectionAnswer, type ReflectionQuestion } from "./reflection-codec.ts";

/** Both versions are in use: old clients ask for v1alpha. */
const names = ["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"] as const;

const pass = (bytes: Bytes): Bytes => bytes;

/**
 * The standard reflection service: stock clients learn the API from it, with every file as it was written and all that
 * it imports. Only `services` are listed. A client that does not read its answers is not read from either.
 */
export function reflectionEntries(
  descriptors: Uint8Array,
  services: readonly string[],
  context: FrontContext,
): readonly GrpcEntry[] {
  const index = new DescriptorIndex(descriptors);
  const handle = reflectionFront((request) => answerTo(index, services, decodeQuestion(request)), context);
  return names.map((fullName) => ({
    fullName,
    definition: definitionOf(fullName),
    handlers: { serverReflectionInfo: handle },
  }));
}

/** Answers the questions of a stream within the limits of its connection. */
export function reflectionFront(
  answer: (request: Bytes) => ReflectionAnswer,
  context: Pick<FrontContext, "connections" | "maxRequestBytes" | "onMistake" | "stop">,
): handleBidiStreamingCall<Bytes, Bytes> {
  const { connections, maxRequestBytes, stop } = context;
  return (call) => {
    let release = () => {};
    let isOver = false;
    const close = () => {
      isOver = true;
      stop.removeEventListener("abort", onStop);
      release();
    };
    const fail = (thrown: unknown) => {
      if (isOver) return;
      close();
      call.emit("error", grpcStatus(faultFor(thrown, context)));
    };
    const onStop = () => fail(stopping());
    try {
      release = connections.admit(call.getPeer());
    } catch (thrown) {
      fail(thrown);
      return;
    }
    stop.addEventListener("abort", onStop, { once: true });
    call.on("data", (request: Bytes) => {
      if (isOver) return;
      try {
        assertSize(request, "max-request-bytes", maxRequestBytes);
        connections.count(call.getPeer());
        if (!call.write(asBuffer(encodeAnswer(request, answer(request))))) call.pause();
      } catch (thrown) {
        fail(thrown instanceof Fault ? thrown : malformed(thrown));
      }
    });
    call.on("drain", () => call.resume());
    call.on("end", () => {
      if (isOver) return;
      close();
      call.end();
    });
    call.on("cancelled", close);
  };
}

function definitionOf(fullName: string): GrpcService {
  return {
    serverReflectionInfo: {
      path: `/${fullName}/ServerReflectionInfo`,
      requestStream: true,
      responseStream: true,
      requestSerialize: pass,
      requestDeserialize: pass,
      responseSerialize: pass,
      responseDeserialize: pass,
    },
  };
}

/** The answer to one question. */
export function answerTo(
  index: DescriptorIndex,
  services: readonly string[],
  question: ReflectionQuestion,
): ReflectionAnswer {
  if (question.kind === "services") return { kind: "services", names: services };
  if (question.kind === "none") return error("INVALID_ARGUMENT", "the request asks for nothing");
  if (question.kind === "extension") return error("NOT_FOUND", "the API has no extensions");
  const name = question.kind === "file" ? question.name : index.fileOf(question.name);
  const files = name === undefined ? undefined : index.withImports(name);
  if (files === undefined) return error("NOT_FOUND", `the API has no ${question.kind} ${question.name.slice(0, 200)}`);
  return { kind: "files", files };
}

function error(code: keyof typeof faultCodes, message: string): ReflectionAnswer {
  return { kind: "error", code: faultCodes[code], message };
}

function malformed(cause: unknown): Fault {
  return new Fault({
    code: "INVALID_ARGUMENT",
    reason: "MALFORMED_MESSAGE",
    message: "the bytes are no ServerReflectionRequest",
    cause,
  });
}
