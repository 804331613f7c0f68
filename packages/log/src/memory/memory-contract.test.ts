import { FakeClock } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { type LogFixture, logTransportContract, snapshotStoreContract } from "../contract/index.ts";
import { MemoryLog } from "./memory-log.ts";
import { MemorySnapshots } from "./memory-snapshots.ts";
import { MemoryTransport } from "./memory-transport.ts";

/** A log in memory whose time passes whenever somebody waits. */
function memoryFixture(): LogFixture {
  const clock = new FakeClock();
  const log = new MemoryLog({ clock, firstSequence: 1_000n });
  let clients = 0;
  const until = async (condition: () => boolean, what: string): Promise<void> => {
    for (let turn = 0; turn < 1_000 && !condition(); turn += 1) await clock.advance(1);
    expect(condition(), what).toBe(true);
  };
  return {
    connect: () => {
      clients += 1;
      return log.connect(`client-${clients}`);
    },
    purge: async (partition, below) => void log.purge(partition, below),
    interrupt: async (transport) => {
      if (!(transport instanceof MemoryTransport)) throw new TypeError("another transport");
      transport.cut();
      await clock.advance(1);
      transport.heal();
    },
    until,
    settle: async (promise) => {
      let isSettled = false;
      const noted = promise.finally(() => {
        isSettled = true;
      });
      await until(() => isSettled, "the promise to settle");
      return noted;
    },
  };
}

describe("the log in memory", () => {
  it.each(logTransportContract.map(({ title, show }) => [title, show] as const))("%s", async (_title, show) => {
    await show(memoryFixture());
  });
});

describe("the snapshot store in memory", () => {
  it.each(snapshotStoreContract.map(({ title, show }) => [title, show] as const))("%s", async (_title, show) => {
    const store = new MemorySnapshots();
    await show({ connect: () => store });
  });
});
