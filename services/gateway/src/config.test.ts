import { describe, expect, it } from "vitest";
import { usesTls } from "./config.ts";

const plain = { grpcHost: "127.0.0.1", insecure: false };

describe("usesTls", () => {
  it.each(["127.0.0.1", "localhost", "::1", "127.8.9.1"])("serves %s without TLS", (grpcHost) => {
    expect(usesTls({ ...plain, grpcHost })).toBe(false);
  });

  it("refuses a network without TLS and names the choices", () => {
    expect(() => usesTls({ ...plain, grpcHost: "0.0.0.0" })).toThrow(
      "grpc-host without TLS would be open to its network: set tls-cert-file and tls-key-file, keep 127.0.0.1, or accept the risk with insecure (got 0.0.0.0)",
    );
  });

  it("serves a network without TLS when told that the risk is accepted", () => {
    expect(usesTls({ ...plain, grpcHost: "0.0.0.0", insecure: true })).toBe(false);
  });

  it("turns TLS on with a certificate and its key, and refuses half of the pair", () => {
    expect(usesTls({ ...plain, grpcHost: "0.0.0.0", tlsCertFile: "c.pem", tlsKeyFile: "k.pem" })).toBe(true);
    expect(() => usesTls({ ...plain, tlsCertFile: "c.pem" })).toThrow(
      "tls-key-file must be set, because tls-cert-file is",
    );
  });
});
