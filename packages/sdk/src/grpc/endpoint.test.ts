import { describe, expect, it } from "vitest";
import { parseEndpoint } from "./endpoint.ts";

describe("an endpoint", () => {
  it.each([
    ["gateway", false, "gateway:8368", false],
    ["gateway:9000", false, "gateway:9000", false],
    ["gateway:9000", true, "gateway:9000", true],
    ["http://gateway:9000", false, "gateway:9000", false],
    ["http://gateway:80", false, "gateway:80", false],
    ["https://gateway", false, "gateway:8368", true],
    ["https://gateway:443/", true, "gateway:443", true],
    ["127.0.0.1:8368", false, "127.0.0.1:8368", false],
    ["[::1]:8368", false, "[::1]:8368", false],
  ])("%s with TLS %s is %s, secure %s", (text, hasTls, target, isSecure) => {
    expect(parseEndpoint(text, hasTls)).toMatchObject({ target, isSecure });
  });

  it("names the host and the port to dial", () => {
    expect(parseEndpoint("[::1]:9000", false)).toMatchObject({ host: "::1", port: 9000 });
    expect(parseEndpoint("https://gateway", false)).toMatchObject({ host: "gateway", port: 8368 });
  });

  it.each(["", "ftp://gateway:1", "gateway:99999", "https://user@gateway", "https://gateway/path", "nats://x:1"])(
    "%j is refused with what one looks like",
    (text) => {
      expect(() => parseEndpoint(text, false)).toThrow(/endpoint .* must be host:port, http:/);
    },
  );

  it("cannot be plain when TLS is configured", () => {
    expect(() => parseEndpoint("http://gateway:1", true)).toThrow("says http although TLS is configured");
  });
});
