import type { handleBidiStreamingCall } from "@grpc/grpc-js";
import { IdentityServiceHeartbeatRequest, IdentityServiceHeartbeatResponse } from "@tenure/contracts";
import { Fault, type Timer } from "@tenure/kernel";
import { describeCall } from "../front/call-context.ts";
import { assertSize, type FrontContext, faultFor, stopping } from "../front/front-context.ts";
import { asBuffer } from "../front/front-service.ts";
import type { Bytes } from "../front/grpc-definition.ts";
import { grpcStatus } from "../front/grpc-status.ts";
import { Heartbeat, type HeartbeatServices } from "./heartbeat.ts";

/** After this long without an answer an empty one is sent, so that both ends know the stream lives. */
const silenceMs = 5_000;

/** Answers that may wait for a client that reads slowly; beyond it the stream is cut off. */
const mostQueuedBytes = 4 * 1024 * 1024;

const empty = IdentityServiceHeartbeatResponse.fromPartial({});

/** Serves beats of identities on a stream. */
export function heartbeatFront(
  services: HeartbeatServices,
  context: FrontContext,
): handleBidiStreamingCall<Bytes, Bytes> {
  const { clock, connections, maxRequestBytes, stop } = context;
  return (call) => {
    let release = () => {};
    let silence: Timer | undefined;
    let isOver = false;
    const close = () => {
      isOver = true;
      silence?.cancel();
      stop.removeEventListener("abort", onStop);
      release();
    };
    const onStop = () => fail(stopping());
    const fail = (thrown: unknown) => {
      if (isOver) return;
      close();
      call.emit("error", grpcStatus(faultFor(thrown, context)));
    };
    const send = (message: IdentityServiceHeartbeatResponse) => {
      if (isOver) return;
      silence?.cancel();
      silence = clock.schedule(silenceMs, () => send(empty));
      call.write(asBuffer(IdentityServiceHeartbeatResponse.encode(message).finish()));
      if (call.writableLength > mostQueuedBytes) fail(tooSlow());
    };
    try {
      release = connections.admit(call.getPeer());
    } catch (thrown) {
      fail(thrown);
      return;
    }
    const heartbeat = new Heartbeat(services, describeCall(call, clock).principal, send);
    silence = clock.schedule(silenceMs, () => send(empty));
    stop.addEventListener("abort", onStop, { once: true });
    call.on("data", (bytes: Bytes) => {
      try {
        assertSize(bytes, "max-request-bytes", maxRequestBytes);
        connections.count(call.getPeer());
        heartbeat.receive(decodeMessage(bytes));
      } catch (thrown) {
        fail(thrown);
      }
    });
    call.on("end", () => {
      if (isOver) return;
      close();
      call.end();
    });
    call.on("cancelled", close);
  };
}

function decodeMessage(bytes: Bytes): IdentityServiceHeartbeatRequest {
  try {
    return IdentityServiceHeartbeatRequest.decode(bytes);
  } catch (cause) {
    throw new Fault({
      code: "INVALID_ARGUMENT",
      reason: "MALFORMED_MESSAGE",
      message: "the bytes of IdentityService.Heartbeat are not its request message",
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
