import { readFileSync } from "node:fs";
import type { Values } from "../command/values.ts";
import { usageFailure } from "../exit-code.ts";
import { type Context, configPath, readConfig } from "./config-file.ts";

/** How this run reaches the service: flags before the environment before the configuration file. */
export interface Settings {
  readonly endpoints: readonly string[];
  readonly namespace: string;
  /** The namespace that lists show; empty is all, which is so unless somebody named one. */
  readonly listedNamespace: string;
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string } | undefined;
  readonly authorization: string | undefined;
  readonly timeoutMs: number | undefined;
  /** What a program that is started under a lease needs to reach the same deployment. */
  readonly childEnvironment: Readonly<Record<string, string>>;
}

/** Where `npm start` listens. */
const defaultEndpoint = "127.0.0.1:8368";
/** The namespace when nothing names one. */
const defaultNamespace = "default";

/** Settles flags, environment and configuration file. */
export function resolveSettings(values: Values, environment: Readonly<Record<string, string | undefined>>): Settings {
  const variable = (name: string): string | undefined => environment[`TENURE_${name}`] || undefined;
  const { context, name } = contextOf(values.text("context") ?? variable("CONTEXT"), environment);
  const endpointText = values.text("endpoint") ?? variable("ENDPOINT");
  const endpoints = endpointText?.split(",").map((one) => one.trim()) ?? context.endpoints ?? [defaultEndpoint];
  const given = values.text("namespace") ?? variable("NAMESPACE");
  const namespace = given ?? context.namespace ?? defaultNamespace;
  return {
    endpoints,
    namespace,
    listedNamespace: given ?? context.namespace ?? "",
    tls: tlsOf(context, variable),
    authorization: variable("AUTHORIZATION") ?? context.authorization,
    timeoutMs: values.durationMs("timeout"),
    childEnvironment: {
      ...(name === undefined ? {} : { TENURE_CONTEXT: name }),
      ...(endpointText === undefined ? {} : { TENURE_ENDPOINT: endpointText }),
      ...(given === undefined ? {} : { TENURE_NAMESPACE: given }),
    },
  };
}

function contextOf(
  wanted: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): { readonly context: Context; readonly name: string | undefined } {
  const path = configPath(environment);
  const config = readConfig(path);
  const name = wanted ?? config.current;
  if (name === undefined) return { context: {}, name };
  const context = config.contexts[name];
  if (context !== undefined) return { context, name };
  const known = Object.keys(config.contexts).join(", ");
  throw usageFailure(`${path} has no context ${JSON.stringify(name)}; it has: ${known === "" ? "none" : known}`);
}

function tlsOf(context: Context, variable: (name: string) => string | undefined): Settings["tls"] {
  const files = { ca: variable("TLS_CA"), cert: variable("TLS_CERT"), key: variable("TLS_KEY") };
  const isGiven = Object.values(files).some((file) => file !== undefined);
  if (!isGiven && context.tls === undefined) return undefined;
  const read = (part: "ca" | "cert" | "key"): Readonly<Record<string, string>> => {
    const file = files[part] ?? context.tls?.[part];
    return file === undefined ? {} : { [part]: readPem(file) };
  };
  return { ...read("ca"), ...read("cert"), ...read("key") };
}

function readPem(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw usageFailure(`the TLS file ${file} cannot be read: ${(error as Error).message}`);
  }
}
