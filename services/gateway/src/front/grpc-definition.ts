import type { MethodDefinition as GrpcMethod, ServiceDefinition as GrpcService } from "@grpc/grpc-js";
import type { ServiceDefinition } from "@tenure/bus";

/** What gRPC calls the messages of a forwarded method. */
export type Bytes = Buffer;

const pass = (message: Bytes): Bytes => message;

/** The gRPC form of a service whose messages stay bytes; the generated definition is the only source of names. */
export function grpcDefinition(definition: ServiceDefinition): GrpcService {
  const methods: Record<string, GrpcMethod<Bytes, Bytes>> = {};
  for (const [key, method] of Object.entries(definition.methods)) {
    methods[key] = {
      path: `/${definition.fullName}/${method.name}`,
      originalName: key,
      requestStream: method.requestStream,
      responseStream: method.responseStream,
      requestSerialize: pass,
      requestDeserialize: pass,
      responseSerialize: pass,
      responseDeserialize: pass,
    };
  }
  return methods;
}
