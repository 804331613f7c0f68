import type { Invocation } from "../command/command.ts";
import { usageFailure } from "../exit-code.ts";

/** The lease that a word names: `namespace/name`, or a name in the namespace of the settings. */
export function leaseNamed(text: string, { settings }: Pick<Invocation, "settings">) {
  const slash = text.indexOf("/");
  const [namespace, name] = slash < 0 ? [settings.namespace, text] : [text.slice(0, slash), text.slice(slash + 1)];
  if (namespace === "" || name === "") {
    throw usageFailure(`a lease is named NAME or NAMESPACE/NAME (got ${JSON.stringify(text)})`);
  }
  return { namespace, name };
}

/** The lease that the first word names. */
export function firstLease(invocation: Invocation) {
  return leaseNamed(invocation.positionals[0] ?? "", invocation);
}

/** Which leases a list shows: those of the namespace that the flag, the environment or the context names, or all. */
export function selectorOf({ settings }: Pick<Invocation, "settings">) {
  return { namespace: settings.listedNamespace };
}
