import type { handleBidiStreamingCall } from "@grpc/grpc-js";
import { encodeMessage, SessionServiceSessionRequest, SessionServiceSessionResponse } from "@tenure/contracts";
import type { SessionEngine } from "@tenure/session";
import { describeCall } from "../front/call-context.ts";
import { decodeRequest } from "../front/decode-request.ts";
import { assertSize, type FrontContext, faultFor } from "../front/front-context.ts";
import { asBuffer } from "../front/front-service.ts";
import type { Bytes } from "../front/grpc-definition.ts";
import { grpcStatus } from "../front/grpc-status.ts";

/** Serves sessions over gRPC: each message is decoded once, and the calls in it stay bytes. */
export function sessionFront(engine: SessionEngine, context: FrontContext): handleBidiStreamingCall<Bytes, Bytes> {
  const { clock, connections, maxSessionMessageBytes } = context;
  return (call) => {
    let release = () => {};
    let isOver = false;
    const fail = (thrown: unknown) => {
      if (isOver) return;
      isOver = true;
      release();
      call.emit("error", grpcStatus(faultFor(thrown, context)));
    };
    try {
      release = connections.admit(call.getPeer());
    } catch (thrown) {
      fail(thrown);
      return;
    }
    const session = engine.open({
      principal: describeCall(call, clock).principal,
      send: (message) => call.write(asBuffer(encodeMessage(SessionServiceSessionResponse, message))),
      end(fault) {
        if (fault !== undefined) fail(fault);
        else finish();
      },
    });
    const finish = () => {
      if (isOver) return;
      isOver = true;
      release();
      call.end();
    };
    call.on("data", (bytes: Bytes) => {
      try {
        assertSize(bytes, "max-session-message-bytes", maxSessionMessageBytes);
        session.receive(decodeRequest(SessionServiceSessionRequest, bytes));
      } catch (thrown) {
        session.close();
        fail(thrown);
      }
    });
    call.on("drain", () => session.onDrain());
    call.on("end", () => {
      session.close();
      finish();
    });
    call.on("cancelled", () => {
      session.close();
      isOver = true;
      release();
    });
  };
}
