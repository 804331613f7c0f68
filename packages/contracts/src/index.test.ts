import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

it("the package exports every generated file", () => {
  const generated = readdirSync(fileURLToPath(new URL("./gen", import.meta.url)), { recursive: true })
    .map((path) => String(path).replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".ts") && path !== "descriptors.ts");
  const index = readFileSync(new URL("./index.ts", import.meta.url), "utf8");
  const exported = [...index.matchAll(/"\.\/gen\/(.+)"/g)].map(([, path]) => path);
  expect(exported.sort()).toEqual(generated.sort());
});
