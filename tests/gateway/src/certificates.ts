import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type ChannelCredentials, credentials } from "@grpc/grpc-js";

const run = promisify(execFile);

/** A certificate and its key, as files. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

const options = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];

/** An authority of tests: it signs whatever it is asked to. */
export class Authority {
  readonly #folder: string;
  readonly #own: Certificate;

  private constructor(folder: string, own: Certificate) {
    this.#folder = folder;
    this.#own = own;
  }

  /** Makes an authority whose files are in a folder. */
  static async make(folder: string, name: string): Promise<Authority> {
    const own = filesOf(folder, name);
    const files = ["-keyout", own.key, "-out", own.cert];
    await run("openssl", ["req", "-x509", ...options, "-subj", `/CN=${name}`, ...files]);
    return new Authority(folder, own);
  }

  /** The file with its certificate. */
  get file(): string {
    return this.#own.cert;
  }

  /** Signs a certificate with these alternative names, such as `DNS:localhost`, and this common name. */
  async sign(name: string, alternativeNames: string, commonName = name): Promise<Certificate> {
    const made = filesOf(this.#folder, name);
    const names = ["-subj", `/CN=${commonName}`, "-addext", `subjectAltName=${alternativeNames}`];
    const plain = ["-addext", "basicConstraints=critical,CA:FALSE"];
    const by = ["-CA", this.#own.cert, "-CAkey", this.#own.key];
    await run("openssl", [
      "req",
      "-x509",
      ...options,
      ...by,
      ...names,
      ...plain,
      "-keyout",
      made.key,
      "-out",
      made.cert,
    ]);
    return made;
  }

  /** What a stock client shows, and that it trusts this authority. */
  async credentials(client?: Certificate): Promise<ChannelCredentials> {
    const root = await readFile(this.file);
    if (client === undefined) return credentials.createSsl(root);
    return credentials.createSsl(root, await readFile(client.key), await readFile(client.cert));
  }

  /** The same for the SDK. */
  async tls(client?: Certificate): Promise<{ ca: string; cert?: string; key?: string; serverName: string }> {
    const ca = await readFile(this.file, "utf8");
    const trust = { ca, serverName: "localhost" };
    if (client === undefined) return trust;
    return { ...trust, cert: await readFile(client.cert, "utf8"), key: await readFile(client.key, "utf8") };
  }
}

function filesOf(folder: string, name: string): Certificate {
  return { cert: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
}
