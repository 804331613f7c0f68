#!/usr/bin/env node
import { serve } from "@tenure/bus";
import { SystemServiceDefinition } from "@tenure/contracts";
import { runService, toDoctorResponse } from "@tenure/runtime";
import { leaseStoreFields } from "./config.ts";
import { servedDefinitions } from "./handlers/services.ts";
import { startLeaseStore } from "./lease-store.ts";

await runService({
  name: "lease-store",
  summary: "Owns the partitions of the log: leases, candidates, guarded data and history.",
  fields: leaseStoreFields,
  // The store's safety rests on compare-and-set, so it proves at every start that the servers have it.
  probe: true,
  // While it is busy a full collection costs as much as thousands of changes, and what it remembers of them dies
  // middle-aged: then the heap may double.
  heapGrowth: { restPercent: 25, busyPercent: 100 },
  async start(context) {
    const { bus, examineDeployment, presence } = context;
    const serves = [SystemServiceDefinition, ...servedDefinitions].map(({ fullName }) => fullName);
    presence.describe(() => ({ serves }));
    const system = serve(bus, SystemServiceDefinition, {
      doctor: async ({ skipProbe }) => toDoctorResponse(await examineDeployment(!skipProbe)),
    });
    const store = await startLeaseStore(context);
    await bus.flush(); // From here on callers find it.
    return {
      async [Symbol.asyncDispose]() {
        await store[Symbol.asyncDispose]();
        await system.stop();
      },
    };
  },
});
