import { type Bus, type BusOptions, connectBus, inboxPrefixOf } from "@tenure/bus";
import { systemClock, systemRandom } from "@tenure/kernel";

/** A bus with the options that tests share. */
export function connectTestBus(
  url: string,
  user: string,
  more: Partial<BusOptions> = {},
  signal?: AbortSignal,
): Promise<Bus> {
  const options: BusOptions = {
    servers: [url],
    name: `test ${user}`,
    inboxPrefix: inboxPrefixOf(user),
    clock: systemClock,
    random: systemRandom,
    connectTimeoutMs: 20_000,
    ...more,
  };
  return connectBus(options, signal);
}
