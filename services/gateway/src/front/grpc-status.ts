import { Metadata, type StatusObject } from "@grpc/grpc-js";
import { encodeStatusDetails } from "@tenure/contracts";
import { type Fault, faultCodes } from "@tenure/kernel";

/** The trailer in which gRPC carries typed details; stock clients of every language read it. */
const detailsKey = "grpc-status-details-bin";

/** A fault as gRPC answers it: its own code and message, and its detail as a typed trailer. */
export function grpcStatus(fault: Fault): StatusObject {
  const metadata = new Metadata();
  metadata.set(detailsKey, Buffer.from(encodeStatusDetails(fault)));
  return { code: faultCodes[fault.code], details: fault.message, metadata };
}
