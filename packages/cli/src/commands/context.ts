import type { Command, Invocation } from "../command/command.ts";
import { type Context, configPath, readConfig, writeConfig } from "../context/config-file.ts";
import { exitCodes, usageFailure } from "../exit-code.ts";
import type { Column } from "../output/table.ts";
import { showAll } from "./view-commands.ts";

/** A context as it is listed; secrets are left out. */
interface Shown {
  readonly name: string;
  readonly isCurrent: boolean;
  readonly context: Context;
}

const columns: readonly Column<Shown>[] = [
  { title: "CURRENT", text: ({ isCurrent }) => (isCurrent ? "*" : "") },
  { title: "CONTEXT", text: ({ name }) => name },
  { title: "ENDPOINTS", text: ({ context }) => (context.endpoints ?? []).join(",") },
  { title: "NAMESPACE", text: ({ context }) => context.namespace ?? "" },
  { title: "TLS", text: ({ context }) => (context.tls === undefined ? "no" : "yes") },
];

/** `context list|set|use|delete`. */
export const contextCommands: readonly Command[] = [
  {
    path: ["context", "list"],
    summary: "List the contexts of the configuration file",
    examples: [["tenure context", "the one in use has a star"]],
    async run(invocation) {
      const { contexts, current } = readConfig(configPath(invocation.environment));
      const shown = Object.entries(contexts).map(([name, context]) => ({ name, context, isCurrent: name === current }));
      const json = ({ context: { authorization, ...rest }, isCurrent, name }: Shown) => ({ name, isCurrent, ...rest });
      showAll({ noun: "contexts", columns, name: ({ name }) => name, json }, shown, invocation);
      return exitCodes.ok;
    },
  },
  {
    path: ["context", "set"],
    summary: "Add or change a context: named endpoints and credentials",
    details: "Endpoints and namespace are those of --endpoint and --namespace.",
    positionals: [{ name: "NAME" }],
    flags: [
      { name: "tls", summary: "use TLS" },
      { name: "tls-ca", value: "FILE", summary: "the authority that signed the gateways' certificates, as PEM" },
      { name: "tls-cert", value: "FILE", summary: "the client's certificate, as PEM" },
      { name: "tls-key", value: "FILE", summary: "the client's key, as PEM" },
      {
        name: "authorization",
        value: "TEXT",
        summary: "sent as the authorization of every session, for a proxy in front",
      },
    ],
    examples: [
      ["tenure context set prod --endpoint gw-1:8368,gw-2:8368 --namespace billing --tls", "then: context use"],
    ],
    async run(invocation) {
      const { positionals, terminal } = invocation;
      const [name = ""] = positionals;
      const path = configPath(invocation.environment);
      const config = readConfig(path);
      const context = { ...config.contexts[name], ...given(invocation) };
      writeConfig(path, { current: name, ...config, contexts: { ...config.contexts, [name]: context } });
      terminal.note(`${name} is in ${path}`);
      return exitCodes.ok;
    },
  },
  {
    path: ["context", "use"],
    summary: "Use a context unless another is named",
    positionals: [{ name: "NAME" }],
    examples: [["tenure context use prod", "TENURE_CONTEXT and --context still go before it"]],
    async run({ environment, positionals: [name = ""] }) {
      const path = configPath(environment);
      const config = readConfig(path);
      if (config.contexts[name] === undefined) throw usageFailure(`${path} has no context ${JSON.stringify(name)}`);
      writeConfig(path, { ...config, current: name });
      return exitCodes.ok;
    },
  },
  {
    path: ["context", "delete"],
    summary: "Forget a context",
    positionals: [{ name: "NAME" }],
    examples: [["tenure context delete staging", "one that does not exist is no error"]],
    async run({ environment, positionals: [name = ""] }) {
      const path = configPath(environment);
      const { contexts, current } = readConfig(path);
      const { [name]: _, ...rest } = contexts;
      writeConfig(path, { ...(current === undefined || current === name ? {} : { current }), contexts: rest });
      return exitCodes.ok;
    },
  },
];

function given({ values }: Invocation): Context {
  const endpoint = values.text("endpoint");
  const namespace = values.text("namespace");
  const authorization = values.text("authorization");
  const files = { ca: values.text("tls-ca"), cert: values.text("tls-cert"), key: values.text("tls-key") };
  const tls = Object.fromEntries(Object.entries(files).filter(([, file]) => file !== undefined));
  return {
    ...(endpoint === undefined ? {} : { endpoints: endpoint.split(",") }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(authorization === undefined ? {} : { authorization }),
    ...(values.has("tls") || Object.keys(tls).length > 0 ? { tls } : {}),
  };
}
