import { describe, expect, it } from "vitest";
import { readCredentials } from "./credentials.ts";

const seed = `SU${"A".repeat(56)}`;
const none = {
  natsNkeyFile: undefined,
  natsSystemNkeyFile: undefined,
  natsCaFile: undefined,
  natsCertFile: undefined,
  natsKeyFile: undefined,
};

function host(files: Readonly<Record<string, string>>, mode = 0o100600) {
  return {
    fileMode: () => mode,
    readFile(path: string) {
      const text = files[path];
      if (text === undefined) throw Object.assign(new Error("missing"), { code: "EACCES" });
      return text;
    },
  };
}

describe("readCredentials", () => {
  it("is empty when no file is named", () => {
    expect(readCredentials(none, host({}))).toEqual({ warnings: [] });
  });

  it("reads seeds without their line end, and PEM texts as they are", () => {
    const files = { s: `${seed}\n`, ca: "CA\n", cert: "CERT", key: "KEY" };
    const credentials = readCredentials(
      { natsNkeyFile: "s", natsSystemNkeyFile: "s", natsCaFile: "ca", natsCertFile: "cert", natsKeyFile: "key" },
      host(files),
    );
    expect(credentials).toEqual({
      nkeySeed: new TextEncoder().encode(seed),
      systemNkeySeed: new TextEncoder().encode(seed),
      tls: { ca: "CA\n", cert: "CERT", key: "KEY" },
      warnings: [],
    });
  });

  it("refuses all that is wrong at once and never shows what a file holds", () => {
    const files = { s: "UABCDEF" };
    const read = () =>
      readCredentials({ ...none, natsNkeyFile: "s", natsCaFile: "gone", natsCertFile: "s" }, host(files));
    expect(read).toThrow(/nats-nkey-file must name a file with the NKEY seed of a user: .* \(got "s"\)/);
    expect(read).toThrow('nats-ca-file cannot be read: permission denied (got "gone")');
    expect(read).toThrow("nats-cert-file and nats-key-file go together: give both or none");
    expect(read).not.toThrow("UABCDEF");
  });

  it("warns of a secret that every user of the machine can read", () => {
    const { warnings } = readCredentials({ ...none, natsNkeyFile: "s" }, host({ s: seed }, 0o100644));
    expect(warnings).toEqual(["nats-nkey-file s can be read by every user of this machine: set its mode to 0600"]);
  });
});
