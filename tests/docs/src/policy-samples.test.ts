import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "@tenure/sdk";
import { startDeployment, startService, tempDirectory } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { pages, type Sample, samples } from "./pages.ts";

/** The one sample of a page with this text in it. */
function sampleWith(path: string, language: string, text: string): Sample {
  const page = pages().find((one) => one.path === path);
  // A sample in a list is indented.
  const outdented = page && { path, text: page.text.replaceAll(/^ {2}(?=```)/gm, "") };
  const found = (outdented ? samples(outdented, language) : []).filter(({ code }) => code.includes(text));
  const [sample] = found;
  if (sample === undefined || found.length > 1) throw new Error(`${path} has ${found.length} samples with ${text}`);
  return sample;
}

describe("the samples of certificates and policies", () => {
  it("make a gateway that lets each client do what the page says, and no more", async () => {
    await using folder = await tempDirectory();
    const file = (name: string) => join(folder.path, name);
    const certificates = sampleWith("docs/operations.md", "sh", "openssl req");
    execFileSync("sh", ["-e", "-c", certificates.code], { cwd: folder.path, stdio: "ignore" });
    writeFileSync(file("policy.yaml"), sampleWith("docs/operations.md", "yaml", "rules:").code);
    const pair = [`--tls-cert-file=${file("gateway.crt")}`, `--tls-key-file=${file("gateway.key")}`];
    const clients = [`--tls-client-ca-file=${file("authority.crt")}`, `--policy-file=${file("policy.yaml")}`];
    await using deployment = await startDeployment({ args: { gateway: [...pair, ...clients] } });
    const open = (name: string) => {
      const [ca, cert, key] = ["authority.crt", `${name}.crt`, `${name}.key`].map((one) =>
        readFileSync(file(one), "utf8"),
      );
      const tls = { ca, cert, key };
      return connect({ endpoint: deployment.grpc(), tls, namespace: "billing", renewal: "inline" });
    };
    await using billing = await open("billing");
    expect(billing.principal).toBe("spiffe://example.org/billing");
    await using lock = await billing.lock("invoices");
    lock.check();
    await expect(billing.lock("shipping/orders")).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    await using operator = await open("operator");
    expect(operator.principal).toBe("spiffe://example.org/operators/ann");
    await expect(operator.lock("invoices")).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    // Ends when it is seen who holds the lease.
    for await (const { kind } of operator.observe("invoices")) if (kind === "leader") break;
  }, 120_000);

  it("give containers settings that the gateway has", async () => {
    const { code } = sampleWith("deploy/README.md", "yaml", "TENURE_POLICY_FILE");
    const { services } = parse(code, { logLevel: "error" }) as {
      readonly services: { readonly gateway: { readonly environment: Readonly<Record<string, string>> } };
    };
    const help = startService("gateway", { args: ["--help"] });
    await help.waitForExit({ timeoutMs: 30_000 });
    const known = help.output.all.join("\n");
    const settings = Object.keys(services.gateway.environment);
    expect(settings.length).toBeGreaterThan(3);
    expect(settings.filter((name) => !known.includes(`[${name}]`))).toEqual([]);
  }, 60_000);
});
