import { type CandidateSelector, type LeaseKey, type LeaseSelector, publicServices } from "@tenure/contracts";
import { decodeRequest } from "../front/decode-request.ts";

/**
 * What a principal may be allowed: to look; to hold what is its own, with its renewals, guarded values, candidacies and
 * identities; and to change what is others'.
 */
export const verbs = ["observe", "lead", "operate"] as const;
export type Verb = (typeof verbs)[number];

/** What a call touches. Without a namespace it is everything, without a name everything in the namespace. */
export interface Target {
  readonly namespace: string;
  readonly name?: string;
  /** Whether it is every name that begins with `name`. */
  readonly isPrefix?: boolean;
}

/** What rights are read with. */
export interface RightsScope {
  /** The namespace of the leases that are identities. */
  readonly identityNamespace: string;
}

type PublicServiceName = keyof typeof publicServices;

/** What a call of a method needs: the verb, on everything that the request names. */
interface Right<Request> {
  /** Absent: every authenticated client may call it. */
  readonly verb?: Verb;
  targets(request: Request, scope: RightsScope): readonly Target[];
}

type RequestOf<Method> = Method extends { readonly requestType: { decode(bytes: Uint8Array): infer Request } }
  ? Request
  : never;

type Rights = {
  readonly [Name in PublicServiceName]: {
    readonly [Key in keyof (typeof publicServices)[Name]["methods"]]: Right<
      RequestOf<(typeof publicServices)[Name]["methods"][Key]>
    >;
  };
};

const everything: Target = { namespace: "" };

const observe = of("observe");
const lead = of("lead");
const operate = of("operate");

function of(verb: Verb) {
  return <Request>(targets: Right<Request>["targets"]): Right<Request> => ({ verb, targets });
}

/** The thing that a request names; one that it fails to name is anything. */
function one(key: Target | undefined): readonly Target[] {
  return [key ?? everything];
}

/** The things that a request names; one that names nothing may mean anything. */
function each(keys: readonly (Target | undefined)[]): readonly Target[] {
  return keys.length === 0 ? [everything] : keys.map((key) => key ?? everything);
}

/** The things that a message of a stream names; without any it is a sign of life. */
function any(keys: readonly (Target | undefined)[]): readonly Target[] {
  return keys.map((key) => key ?? everything);
}

function selected(selector: LeaseSelector | undefined): Target {
  if (selector === undefined || selector.namespace === "") return everything;
  const { name, namePrefix, namespace } = selector;
  if (name !== "") return { namespace, name };
  return namePrefix === "" ? { namespace } : { namespace, name: namePrefix, isPrefix: true };
}

const lease = ({ lease }: { readonly lease: LeaseKey | undefined }) => one(lease);
const fence = ({ fence }: { readonly fence: { readonly lease: LeaseKey | undefined } | undefined }) =>
  one(fence?.lease);
const candidate = (request: { readonly candidate: { readonly lease: LeaseKey | undefined } | undefined }) =>
  one(request.candidate?.lease);
const candidates = (selector: CandidateSelector | undefined) => selected(selector?.lease);
const leases = ({ selector }: { readonly selector: LeaseSelector | undefined }) => one(selected(selector));
const renewals = ({ renewals }: { readonly renewals: readonly { readonly lease: LeaseKey | undefined }[] }) =>
  renewals.map((renewal) => renewal.lease);
const identity = ({ id }: { readonly id: string }, { identityNamespace }: RightsScope) =>
  one(within(identityNamespace, id));
const identities = (_: unknown, { identityNamespace }: RightsScope) => one({ namespace: identityNamespace });
const migration = ({ name, namespace }: { readonly namespace: string; readonly name?: string }) =>
  one(within(namespace, name ?? ""));
const participant = (request: { readonly participant: { readonly primary: LeaseKey | undefined } | undefined }) =>
  one(request.participant?.primary);

function within(namespace: string, name: string): Target {
  return name === "" ? { namespace } : { namespace, name };
}

/**
 * Every method of the public API and what it needs: the one place that says so. A method without an entry does not
 * compile, and fails the test beside this file.
 */
export const rights: Rights = {
  "tenure.v1.LeaseService": {
    acquire: lead(({ claims }) => each(claims.map((claim) => claim.lease))),
    accept: lead(candidate),
    renew: lead((request) => each(renewals(request))),
    keepAlive: lead((request) => any(renewals(request))),
    release: lead(({ items }) => each(items.map((item) => item.lease))),
    get: observe(lease),
    list: observe(leases),
    // A claim creates what it names, too.
    create: lead(lease),
    update: operate(lease),
    delete: operate(lease),
    revoke: operate(lease),
    steal: operate(lease),
    watch: observe(({ selectors }) => each(selectors.map(selected))),
    history: observe(lease),
  },
  "tenure.v1.GuardService": {
    get: observe(lease),
    list: observe(lease),
    put: lead(fence),
    delete: lead(fence),
    transact: lead(fence),
  },
  "tenure.v1.CandidateService": {
    // The store lets nobody but its own principal register or correct a candidate.
    register: lead(candidate),
    update: lead(candidate),
    ack: lead(({ answers }) => each(answers.map((answer) => answer.candidate?.lease))),
    withdraw: lead(candidate),
    setPriority: operate(candidate),
    cordon: operate(candidate),
    uncordon: operate(candidate),
    get: observe(candidate),
    list: observe(({ selector }) => one(candidates(selector))),
    watch: observe(({ selectors }) => each(selectors.map(candidates))),
  },
  "tenure.v1.ElectionService": {
    observe: observe(({ leases }) => each(leases)),
    get: observe(lease),
    list: observe(leases),
    explain: observe(lease),
    dryRun: observe(lease),
    rehearse: observe(lease),
    setStrategy: operate(lease),
    preempt: operate(candidate),
    stepDown: operate(lease),
    cancelEndOfTerm: operate(lease),
    elect: operate(candidate),
  },
  "tenure.v1.IdentityService": {
    register: lead(identity),
    heartbeat: lead(({ beats }, { identityNamespace }) => any(beats.map(({ id }) => within(identityNamespace, id)))),
    deregister: lead(identity),
    get: observe(identity),
    list: observe(identities),
    watch: observe(identities),
    collect: operate(identities),
  },
  "tenure.v1.MigrationService": {
    // The name of what a document is about stands in the document: who may apply it may apply any in the namespace.
    validate: observe(migration),
    apply: operate(({ namespace }) => one({ namespace })),
    delete: operate(migration),
    get: observe(migration),
    list: observe(migration),
    status: observe(migration),
    join: lead((message) => (message.participant === undefined ? [] : participant(message))),
    report: lead(participant),
    watch: observe(migration),
  },
  "tenure.v1.SessionService": {
    // A session does nothing by itself: each call on it, and each renewal, is judged under its own name.
    session: { targets: () => [] },
  },
  "tenure.v1.SystemService": {
    status: observe(() => [everything]),
    doctor: observe(() => [everything]),
  },
};

/** What a call of a method needs, read from its encoded request. */
export interface MethodRight {
  readonly verb?: Verb | undefined;
  /** Throws INVALID_ARGUMENT for bytes that are no request of the method. */
  targetsOf(request: Uint8Array): readonly Target[];
}

/** The same by method, as `<Service>.<Method>`. */
export function methodRights(scope: RightsScope): ReadonlyMap<string, MethodRight> {
  const found = new Map<string, MethodRight>();
  for (const [fullName, { methods, name }] of Object.entries(publicServices)) {
    const table = rights[fullName as PublicServiceName] as Readonly<Record<string, Right<unknown>>>;
    for (const [key, method] of Object.entries(methods)) {
      const right = table[key];
      if (right === undefined) continue;
      found.set(`${name}.${method.name}`, {
        verb: right.verb,
        // Read as the services read it, so that both see the same names.
        targetsOf: (request) => right.targets(decodeRequest<unknown>(method.requestType, request), scope),
      });
    }
  }
  return found;
}
