import { anonymous } from "@tenure/bus";
import { Fault } from "@tenure/kernel";

/** The part of a peer's certificate that says who it is. */
export interface NamedCertificate {
  /** Its alternative names as Node.js writes them; absent if it has none. */
  readonly subjectaltname?: string | undefined;
}

/** Says who a peer is, by the certificate that its connection was verified with. Throws UNAUTHENTICATED. */
export type Identify = (certificate: NamedCertificate | undefined) => string;

/** What a principal may be: as the bus and the records take it, in SPIFFE's form. */
const spiffe = /^spiffe:\/\/[a-z0-9._-]+(\/[A-Za-z0-9._-]+)+$/;
const mostCharacters = 256;

/** Nobody is asked for a certificate, so nobody is told from another. */
export const identifyNobody: Identify = () => anonymous;

/**
 * The principal is the first URI among the certificate's alternative names. The subject's common name is never looked at:
 * it has no form that an authority would have to check. A certificate is read once for all calls of its connection.
 */
export function identifyByCertificate(): Identify {
  const known = new WeakMap<NamedCertificate, string>();
  return (certificate) => {
    if (certificate === undefined) throw refused("CREDENTIALS_MISSING", "the connection has no client certificate");
    const found = known.get(certificate);
    if (found !== undefined) return found;
    const principal = principalOf(certificate);
    known.set(certificate, principal);
    return principal;
  };
}

function principalOf({ subjectaltname = "" }: NamedCertificate): string {
  const uri = firstUri(subjectaltname);
  if (uri === undefined) throw refused("CREDENTIALS_INVALID", "the client certificate has no URI as alternative name");
  if (spiffe.test(uri) && uri.length <= mostCharacters) return uri;
  const shown = JSON.stringify(uri.slice(0, 80));
  throw refused("CREDENTIALS_INVALID", `the client certificate has ${shown} as its first URI`);
}

/** One alternative name and what follows it; a value with anything unusual in it is quoted, so that it cannot pose as two. */
const alternativeName = /([^:,"]+):("(?:[^"\\]|\\.)*"|[^,"]*)(?:, |$)/y;

function firstUri(names: string): string | undefined {
  alternativeName.lastIndex = 0;
  while (alternativeName.lastIndex < names.length) {
    const [, kind, value] = alternativeName.exec(names) ?? [];
    // What cannot be read ends the search: what stands behind it may be part of it.
    if (kind === undefined || value === undefined) return undefined;
    if (kind === "URI") return value;
  }
  return undefined;
}

function refused(reason: string, what: string): Fault {
  const rule = "its first URI must name the client, as spiffe://<trust domain>/<path> of at most 256 characters";
  return new Fault({
    code: "UNAUTHENTICATED",
    reason,
    message: `${what}: a client needs a certificate of tls-client-ca-file, and ${rule}`,
    details: { applied: "NO" },
  });
}
