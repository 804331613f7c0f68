import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { readPolicy, readTls } from "./config.ts";

const plain = { grpcHost: "127.0.0.1", insecure: false };

async function makeCertificate(): Promise<{ readonly tlsCertFile: string; readonly tlsKeyFile: string }> {
  const folder = mkdtempSync(join(tmpdir(), "tenure-tls-"));
  const [tlsCertFile, tlsKeyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost"];
  await promisify(execFile)("openssl", ["req", "-x509", ...kind, "-keyout", tlsKeyFile, "-out", tlsCertFile]);
  return { tlsCertFile, tlsKeyFile };
}

describe("readTls", () => {
  it.each(["127.0.0.1", "localhost", "::1", "127.8.9.1"])("serves %s without TLS", (grpcHost) => {
    expect(readTls({ ...plain, grpcHost })).toBeUndefined();
  });

  it("refuses a network without TLS and names the choices", () => {
    expect(() => readTls({ ...plain, grpcHost: "0.0.0.0" })).toThrow(
      "grpc-host without TLS would be open to its network: set tls-cert-file and tls-key-file, keep 127.0.0.1, or accept the risk with insecure (got 0.0.0.0)",
    );
  });

  it("serves a network without TLS when told that the risk is accepted", () => {
    expect(readTls({ ...plain, grpcHost: "0.0.0.0", insecure: true })).toBeUndefined();
  });

  it("refuses half of the pair, a file that is not there, and files that are no certificate and key", () => {
    expect(() => readTls({ ...plain, tlsCertFile: "c.pem" })).toThrow(
      "tls-key-file must be set, because tls-cert-file is",
    );
    expect(() => readTls({ ...plain, tlsKeyFile: "k.pem" })).toThrow(
      "tls-cert-file must be set, because tls-key-file is",
    );
    expect(() => readTls({ ...plain, tlsCertFile: "nowhere.pem", tlsKeyFile: "k.pem" })).toThrow(
      'tls-cert-file must be a readable file: ENOENT (got "nowhere.pem")',
    );
    const self = fileURLToPath(import.meta.url);
    expect(() => readTls({ ...plain, tlsCertFile: self, tlsKeyFile: self })).toThrow(
      "tls-cert-file and tls-key-file must be a PEM certificate and its key",
    );
  });

  it("asks clients for certificates only with one of its own, and with authorities that it can read", async () => {
    expect(() => readTls({ ...plain, tlsClientCaFile: "ca.pem" })).toThrow(
      "tls-client-ca-file needs tls-cert-file and tls-key-file to be set, too",
    );
    const files = await makeCertificate();
    expect(() => readTls({ ...plain, ...files, tlsClientCaFile: "nowhere.pem" })).toThrow(
      'tls-client-ca-file must be a readable file: ENOENT (got "nowhere.pem")',
    );
    expect(() => readTls({ ...plain, ...files, tlsClientCaFile: files.tlsKeyFile })).toThrow(
      "tls-client-ca-file must have a PEM certificate in it",
    );
    const broken = `${files.tlsCertFile}.broken`;
    const whole = readFileSync(files.tlsCertFile, "utf8");
    writeFileSync(broken, `${whole}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`);
    expect(() => readTls({ ...plain, ...files, tlsClientCaFile: broken })).toThrow(
      "tls-client-ca-file must have nothing but PEM certificates in it: number 2 is none",
    );
    expect(readTls({ ...plain, ...files, tlsClientCaFile: files.tlsCertFile })?.ca?.toString()).toBe(whole);
  });

  it("turns TLS on with a certificate and its key", async () => {
    expect(readTls({ ...plain, grpcHost: "0.0.0.0", ...(await makeCertificate()) })?.cert.toString()).toContain(
      "BEGIN CERTIFICATE",
    );
  });
});

describe("readPolicy", () => {
  const policy = (text: string) => {
    const policyFile = join(mkdtempSync(join(tmpdir(), "tenure-policy-")), "policy.yaml");
    writeFileSync(policyFile, text);
    return { ...plain, policyFile, tlsClientCaFile: "ca.pem" };
  };

  it("is for a gateway that knows its clients", () => {
    expect(readPolicy(plain)).toBeUndefined();
    expect(() => readPolicy({ ...plain, policyFile: "p.yaml" })).toThrow(
      "policy-file needs tls-client-ca-file to be set, too",
    );
  });

  it("refuses a file that is not there or that it does not understand", () => {
    expect(() => readPolicy({ ...plain, policyFile: "nowhere.yaml", tlsClientCaFile: "ca.pem" })).toThrow(
      'policy-file must be a readable file: ENOENT (got "nowhere.yaml")',
    );
    const config = policy('rules: [{ principals: ["*"], namespaces: ["*"], verbs: [rule] }]');
    expect(() => readPolicy(config)).toThrow(
      `${config.policyFile}:1: rules[0].verbs[0] must be observe, lead, operate (got "rule")`,
    );
  });

  it("reads the rules", () => {
    const read = readPolicy(policy('rules: [{ principals: ["*"], namespaces: [billing], verbs: [observe] }]'));
    expect(read?.grantsOf("anyone").allows("observe", { namespace: "billing" })).toBe(true);
    expect(read?.grantsOf("anyone").allows("lead", { namespace: "billing" })).toBe(false);
  });
});
