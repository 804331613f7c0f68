/**
 * The image's one entry point: the first argument names the program, the others are the program's own.
 *
 * The program runs inside this process, so that it is the container's first process and gets its signals.
 */
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Every program of the image and the file that runs it. Services are those that the image was built with.
 * @returns {Map<string, string>}
 */
function programs() {
  const found = new Map();
  for (const name of readdirSync(`${root}services`).sort()) {
    const file = `${root}services/${name}/dist/main.js`;
    if (existsSync(file)) found.set(name, file);
  }
  return found
    .set("tenure", `${root}packages/cli/dist/main.js`)
    .set("provision", `${root}packages/provision/dist/main.js`)
    .set("credentials", `${root}image/credentials.mjs`)
    .set("front", `${root}image/front.mjs`)
    .set("health", `${root}image/health.mjs`);
}

const name = process.argv[2];
const known = programs();
const file = known.get(name ?? "");
if (file === undefined) {
  const asked = name === undefined ? "no program was named" : `there is no program ${JSON.stringify(name)}`;
  process.stderr.write(`tenure: ${asked}; this image has ${[...known.keys()].join(", ")}\n`);
  process.exit(2);
}
process.argv.splice(1, 2, file);
await import(pathToFileURL(file).href);
