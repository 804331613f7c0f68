import { buf } from "./buf.mjs";

// From here on, what the .proto files say now is what later changes are compared with.
buf("build", "--exclude-source-info", "-o", "baseline.binpb");
console.log("proto/baseline.binpb now holds the present API: commit it together with the reason for the change");
