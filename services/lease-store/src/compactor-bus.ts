import { type Bus, connectBus, inboxPrefixOf } from "@tenure/bus";
import { processHost, readCredentials, type ServiceContext } from "@tenure/runtime";
import type { leaseStoreFields } from "./config.ts";

/** The connection that purges. Disposing of it closes it if it was made for that. */
export interface CompactorBus extends AsyncDisposable {
  readonly bus: Bus;
}

const compactorUser = "compactor";

/**
 * Connects as the NATS user that may purge and do nothing else. Where services have no seeds, the service's own
 * connection purges. Undefined, with a warning, where this service has a seed but none for the compactor: then the log
 * only grows.
 */
export async function connectCompactor(
  context: ServiceContext<typeof leaseStoreFields>,
): Promise<CompactorBus | undefined> {
  const { bus, clock, config, instance, log, random, stop } = context;
  if (config.compactorNkeyFile === undefined) {
    if (config.natsNkeyFile === undefined) return { bus, async [Symbol.asyncDispose]() {} };
    log.warn("the log is not compacted: give compactor-nkey-file, the seed of the NATS user that purges");
    return undefined;
  }
  const files = { ...config, natsNkeyFile: config.compactorNkeyFile, natsSystemNkeyFile: undefined };
  const { nkeySeed, tls, warnings } = readCredentials(files, processHost(), "compactor-nkey-file");
  for (const warning of warnings) log.warn(warning);
  const own = await connectBus(
    {
      servers: config.natsUrl,
      name: `tenure lease-store ${instance} (${compactorUser})`,
      inboxPrefix: inboxPrefixOf(compactorUser),
      nkeySeed,
      tls,
      clock,
      random,
      connectTimeoutMs: config.natsConnectTimeoutMs,
      onFault: (fault) => log.warn({ err: fault }, "nats reports a failure to the compactor"),
    },
    stop,
  );
  return { bus: own, [Symbol.asyncDispose]: () => own.drain() };
}
