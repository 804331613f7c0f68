import { anonymous } from "@tenure/bus";
import { describe, expect, it } from "vitest";
import { identifyByCertificate, identifyNobody } from "./principal.ts";

const identify = identifyByCertificate();

describe("the principal of a peer", () => {
  it("is nobody's in particular where no certificates are asked for", () => {
    expect(identifyNobody({ subjectaltname: "URI:spiffe://example.org/billing" })).toBe(anonymous);
  });

  it.each([
    ["URI:spiffe://example.org/billing", "spiffe://example.org/billing"],
    ["DNS:a.example, URI:spiffe://example.org/ns/prod/sa/x_1", "spiffe://example.org/ns/prod/sa/x_1"],
    ["IP Address:10.0.0.1, URI:spiffe://a/first, URI:spiffe://a/second", "spiffe://a/first"],
  ])("is the first URI of %s", (subjectaltname, principal) => {
    expect(identify({ subjectaltname })).toBe(principal);
  });

  it.each([
    [undefined],
    [""],
    ["DNS:spiffe.example"],
    ["email:spiffe://a/b"],
    ['DNS:"a, URI:spiffe://a/admin, b"'],
    ['othername:"x\\", URI:spiffe://a/admin, DNS:\\"y"'],
    ['DNS:broken"quote, URI:spiffe://a/admin'],
  ])("is nobody's without a URI: %s", (subjectaltname) => {
    expect(() => identify({ subjectaltname })).toThrow(
      "the client certificate has no URI as alternative name: a client needs a certificate of tls-client-ca-file, and its first URI must name the client, as spiffe://<trust domain>/<path>",
    );
  });

  it.each([
    "URI:https://example.org/billing",
    "URI:spiffe://example.org",
    "URI:spiffe://example.org/",
    "URI:spiffe://example.org/a*",
    "URI:spiffe://example.org/a b",
    'URI:"spiffe://example.org/a,b"',
    `URI:spiffe://example.org/${"a".repeat(256)}`,
    "URI:https://first.example, URI:spiffe://a/second",
  ])("is nobody's with another kind of URI first: %s", (subjectaltname) => {
    expect(() => identify({ subjectaltname })).toThrow("as its first URI: a client needs");
  });

  it("is refused as UNAUTHENTICATED, also for a connection without a certificate", () => {
    const refusal = (certificate: object | undefined) => {
      try {
        return identify(certificate);
      } catch (thrown) {
        return thrown;
      }
    };
    expect(refusal(undefined)).toMatchObject({ code: "UNAUTHENTICATED", reason: "CREDENTIALS_MISSING" });
    expect(refusal({})).toMatchObject({ code: "UNAUTHENTICATED", reason: "CREDENTIALS_INVALID" });
  });
});
