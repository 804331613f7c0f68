#!/usr/bin/env node
import { serve } from "@tenure/bus";
import { SystemServiceDefinition } from "@tenure/contracts";
import { runService, toDoctorResponse } from "@tenure/runtime";

await runService({
  name: "lease-store",
  summary: "Owns the partitions of the log: leases, candidates, guarded data and history.",
  fields: {},
  // The store's safety rests on compare-and-set, so it proves at every start that the servers have it.
  probe: true,
  async start({ bus, examineDeployment, presence }) {
    presence.describe(() => ({ serves: [SystemServiceDefinition.fullName] }));
    const server = serve(bus, SystemServiceDefinition, {
      doctor: async ({ skipProbe }, { signal }) =>
        toDoctorResponse(await examineDeployment({ probe: !skipProbe, signal })),
    });
    await bus.flush(); // From here on callers find it.
    return server;
  },
});
