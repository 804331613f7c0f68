import type { MessageOf } from "@tenure/bus";
import type {
  CandidateServiceDefinition,
  ElectionServiceDefinition,
  GuardServiceDefinition,
  IdentityServiceDefinition,
  LeaseServiceDefinition,
  MigrationServiceDefinition,
  SystemServiceDefinition,
} from "@tenure/contracts";

/** The services whose methods a session carries. */
type Services =
  | CandidateServiceDefinition
  | ElectionServiceDefinition
  | GuardServiceDefinition
  | IdentityServiceDefinition
  | LeaseServiceDefinition
  | MigrationServiceDefinition
  | SystemServiceDefinition;

/** Every method by its name on a session, for example `LeaseService.Acquire`. */
type Methods = UnionToIntersection<Services extends infer Service ? MethodsOf<Service> : never>;

type MethodsOf<Service> = Service extends { readonly name: infer Name extends string; readonly methods: infer Own }
  ? {
      [Key in keyof Own as Own[Key] extends { readonly name: infer M extends string }
        ? `${Name}.${M}`
        : never]: Own[Key];
    }
  : never;

type UnionToIntersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

type NamesWith<Shape> = { [Name in keyof Methods]: Methods[Name] extends Shape ? Name : never }[keyof Methods];

/** The name of a method that has one request and one response. */
export type UnaryMethod = NamesWith<{ readonly requestStream: false; readonly responseStream: false }>;

/** The name of a method that has one request and a stream of responses. */
export type StreamMethod = NamesWith<{ readonly requestStream: false; readonly responseStream: true }>;

/** The request of a method. */
export type RequestOf<Method extends keyof Methods> = Methods[Method] extends { readonly requestType: infer Codec }
  ? MessageOf<Codec>
  : never;

/** The response of a method, or one of its stream. */
export type ResponseOf<Method extends keyof Methods> = Methods[Method] extends { readonly responseType: infer Codec }
  ? MessageOf<Codec>
  : never;
