import { Metadata, type StatusObject } from "@grpc/grpc-js";
import { encodeStatusDetails } from "@tenure/contracts";
import { Fault, faultCodes } from "@tenure/kernel";

/** The trailer in which gRPC carries typed details; stock clients of every language read it. */
const detailsKey = "grpc-status-details-bin";

/**
 * A thrown value as gRPC answers it: the fault's own code and message, and its detail as a typed trailer. What is not
 * a fault is INTERNAL without its text, because that may hold anything.
 */
export function grpcStatus(thrown: unknown): StatusObject {
  const fault = thrown instanceof Fault ? thrown : internal(thrown);
  const metadata = new Metadata();
  metadata.set(detailsKey, Buffer.from(encodeStatusDetails(fault)));
  return { code: faultCodes[fault.code], details: fault.message, metadata };
}

function internal(cause: unknown): Fault {
  return new Fault({ code: "INTERNAL", reason: "INTERNAL", message: "the gateway failed; its log says why", cause });
}
