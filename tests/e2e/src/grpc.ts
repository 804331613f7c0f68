import { fileURLToPath } from "node:url";
import { Client, credentials, type ServiceError } from "@grpc/grpc-js";
import { decodeStatusDetails, type publicServices } from "@tenure/contracts";
import type { Fault } from "@tenure/kernel";

/** The repository's proto folder. */
export const protoFolder = fileURLToPath(new URL("../../../proto", import.meta.url));

type Definition = (typeof publicServices)[keyof typeof publicServices];

interface Codec<Message> {
  encode(message: Message): { finish(): Uint8Array };
  decode(bytes: Uint8Array): Message;
}

/** A plain gRPC call of one unary method, as any client in any language makes it. */
export function callUnary<Request, Response>(
  address: string,
  service: Definition,
  method: { readonly name: string; readonly requestType: Codec<Request>; readonly responseType: Codec<Response> },
  request: Request,
): Promise<Response> {
  const client = new Client(address, credentials.createInsecure());
  return new Promise<Response>((resolve, reject) => {
    client.makeUnaryRequest(
      `/${service.fullName}/${method.name}`,
      (message: Request) => Buffer.from(method.requestType.encode(message).finish()),
      (bytes: Buffer) => method.responseType.decode(bytes),
      request,
      { deadline: Date.now() + 30_000 },
      (error, response) => (error === null ? resolve(response as Response) : reject(error)),
    );
  }).finally(() => client.close());
}

/** The typed fault behind a gRPC error, from its standard details trailer. */
export function faultOf(error: unknown): Fault {
  const [details] = (error as ServiceError).metadata.get("grpc-status-details-bin");
  return decodeStatusDetails(details as Buffer);
}
