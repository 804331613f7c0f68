import { writeFileSync } from "node:fs";
import { buf } from "./buf.mjs";

// buf.gen.yaml cleans src/gen first, so a message that is gone leaves no file behind.
buf("generate");

// gRPC reflection serves descriptors; without source information they are a fifth of the size.
const descriptors = buf("build", "--as-file-descriptor-set", "--exclude-source-info", "-o", "-");
const target = new URL("../src/gen/descriptors.ts", import.meta.url);
writeFileSync(
  target,
  [
    "/** The google.protobuf.FileDescriptorSet of every file in `proto/` and what they import, in base64. */",
    `export const fileDescriptorSetBase64: string =\n  "${descriptors.toString("base64")}";`,
    "",
  ].join("\n"),
);
