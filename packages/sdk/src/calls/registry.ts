import type { MessageCodec } from "@tenure/bus";
import {
  CandidateServiceDefinition,
  ElectionServiceDefinition,
  encodeMessage,
  GuardServiceDefinition,
  IdentityServiceDefinition,
  LeaseServiceDefinition,
  MigrationServiceDefinition,
  SystemServiceDefinition,
} from "@tenure/contracts";
import { TenureError } from "../errors.ts";
import type { RequestOf, ResponseOf, StreamMethod, UnaryMethod } from "./methods.ts";

/** How the messages of a method become bytes and back. */
interface Codecs {
  readonly requestType: MessageCodec<unknown>;
  readonly responseType: MessageCodec<unknown>;
}

const definitions = [
  CandidateServiceDefinition,
  ElectionServiceDefinition,
  GuardServiceDefinition,
  IdentityServiceDefinition,
  LeaseServiceDefinition,
  MigrationServiceDefinition,
  SystemServiceDefinition,
];

const codecs: ReadonlyMap<string, Codecs> = new Map(
  definitions.flatMap(({ name, methods }) =>
    Object.values(methods).map((method) => [`${name}.${method.name}`, method as Codecs] as const),
  ),
);

/** The methods that change nothing: asked again after a reconnect without a thought. */
const readVerbs = /\.(Get|List|History|Status|Doctor|Explain|DryRun|Observe|Validate|Rehearse)$/;

/** Whether a method only reads. */
export function isRead(method: string): boolean {
  return readVerbs.test(method);
}

/** The bytes of a request. A value that is no such message is INVALID_ARGUMENT. */
export function encodeRequest<Method extends StreamMethod | UnaryMethod>(
  method: Method,
  request: RequestOf<Method>,
): Uint8Array {
  const { requestType } = codecsOf(method);
  try {
    return encodeMessage(requestType, request);
  } catch (cause) {
    const message = `the request of ${method} cannot be encoded: ${cause instanceof Error ? cause.message : cause}`;
    throw new TenureError({ code: "INVALID_ARGUMENT", reason: "MALFORMED_MESSAGE", message, applied: "NO", cause });
  }
}

/** The response of these bytes. */
export function decodeResponse<Method extends StreamMethod | UnaryMethod>(
  method: Method,
  bytes: Uint8Array,
): ResponseOf<Method> {
  // The name picks codec and type alike.
  return codecsOf(method).responseType.decode(bytes) as ResponseOf<Method>;
}

function codecsOf(method: string): Codecs {
  const known = codecs.get(method);
  if (known !== undefined) return known;
  const message = `${method} is no method that a session carries`;
  throw new TenureError({ code: "UNIMPLEMENTED", reason: "METHOD_UNKNOWN", message, applied: "NO" });
}
