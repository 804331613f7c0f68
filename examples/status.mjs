// What runs, asked over gRPC by a stock client: node examples/status.mjs [host:port]
import { fileURLToPath } from "node:url";
import { credentials, loadPackageDefinition } from "@grpc/grpc-js";
import { load } from "@grpc/proto-loader";

const address = process.argv[2] ?? "127.0.0.1:8368";
const proto = fileURLToPath(new URL("../proto", import.meta.url));
const { tenure } = loadPackageDefinition(
  await load("tenure/v1/system.proto", { includeDirs: [proto], defaults: true }),
);
const client = new tenure.v1.SystemService(address, credentials.createInsecure());

client.Status({}, { deadline: Date.now() + 5000 }, (error, status) => {
  if (error) {
    console.error(`status: ${error.message}`);
    process.exit(1);
  }
  console.log(
    `${status.ready ? "ready" : `not ready: ${status.notReadyReasons.join("; ")}`}, version ${status.version}`,
  );
  for (const { service, instances } of status.services) {
    for (const { instance, ready, notReadyReasons, httpAddress } of instances) {
      console.log(
        [service.padEnd(12), ready ? "ready    " : "not ready", instance, httpAddress, ...notReadyReasons].join("  "),
      );
    }
  }
  client.close();
});
