import type { handleBidiStreamingCall } from "@grpc/grpc-js";
import { LeaseServiceKeepAliveRequest, LeaseServiceKeepAliveResponse } from "@tenure/contracts";
import { Fault, type Timer } from "@tenure/kernel";
import { describeCall } from "../front/call-context.ts";
import { assertSize, type FrontContext, faultFor, stopping } from "../front/front-context.ts";
import { asBuffer } from "../front/front-service.ts";
import type { Bytes } from "../front/grpc-definition.ts";
import { grpcStatus } from "../front/grpc-status.ts";
import { KeepAlive, type KeepAliveServices } from "./keep-alive.ts";

/** After this long without an answer an empty one is sent, as the API has it. */
const silenceMs = 5_000;

/** Answers that may wait for a client that reads slowly; beyond it the stream is cut off. */
const mostQueuedBytes = 4 * 1024 * 1024;

/** A client that has closed its side gets the answers that come within this time: longer than an owner may take. */
const lastAnswersMs = 10_000;

/** Serves renewals on a stream to clients that do not speak sessions. */
export function keepAliveFront(
  services: KeepAliveServices,
  context: FrontContext,
): handleBidiStreamingCall<Bytes, Bytes> {
  const { clock, connections, maxRequestBytes, stop } = context;
  return (call) => {
    let release = () => {};
    let silence: Timer | undefined;
    let lastAnswers: Timer | undefined;
    let isOver = false;
    const close = () => {
      isOver = true;
      silence?.cancel();
      lastAnswers?.cancel();
      stop.removeEventListener("abort", onStop);
      release();
    };
    const onStop = () => fail(stopping());
    const fail = (thrown: unknown) => {
      if (isOver) return;
      close();
      call.emit("error", grpcStatus(faultFor(thrown, context)));
    };
    const send = (message: LeaseServiceKeepAliveResponse) => {
      if (isOver) return;
      silence?.cancel();
      silence = clock.schedule(silenceMs, () => send({ results: [] }));
      call.write(asBuffer(LeaseServiceKeepAliveResponse.encode(message).finish()));
      if (call.writableLength > mostQueuedBytes) fail(tooSlow());
      else if (lastAnswers !== undefined && keepAlive.isIdle) finish();
    };
    const finish = () => {
      if (isOver) return;
      close();
      call.end();
    };
    try {
      release = connections.admit(call.getPeer());
    } catch (thrown) {
      fail(thrown);
      return;
    }
    const { principal } = describeCall(call, clock);
    const keepAlive = new KeepAlive(services, { clientId: "keep-alive", principal }, send);
    silence = clock.schedule(silenceMs, () => send({ results: [] }));
    stop.addEventListener("abort", onStop, { once: true });
    call.on("data", (bytes: Bytes) => {
      try {
        assertSize(bytes, "max-request-bytes", maxRequestBytes);
        connections.count(call.getPeer());
        keepAlive.receive(decodeMessage(bytes));
      } catch (thrown) {
        fail(thrown);
      }
    });
    call.on("end", () => {
      if (isOver) return;
      if (keepAlive.isIdle) finish();
      else lastAnswers = clock.schedule(lastAnswersMs, finish);
    });
    call.on("cancelled", close);
  };
}

function decodeMessage(bytes: Bytes): LeaseServiceKeepAliveRequest {
  try {
    return LeaseServiceKeepAliveRequest.decode(bytes);
  } catch (cause) {
    throw new Fault({
      code: "INVALID_ARGUMENT",
      reason: "MALFORMED_MESSAGE",
      message: "the bytes of LeaseService.KeepAlive are not its request message",
      details: { applied: "NO" },
      cause,
    });
  }
}

function tooSlow(): Fault {
  return new Fault({
    code: "RESOURCE_EXHAUSTED",
    reason: "LIMIT_EXCEEDED",
    message: `the client reads too slowly: over ${mostQueuedBytes} bytes of answers wait for it`,
    details: { limit: { name: "queued-bytes-per-stream", value: BigInt(mostQueuedBytes) } },
  });
}
