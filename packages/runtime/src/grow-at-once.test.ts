import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const built = fileURLToPath(new URL("../dist/grow-at-once.js", import.meta.url));

/** Makes four times as much as it keeps, 16 MB in all, and prints how many MiB the young generation has then. */
const work = `
  const kept = [];
  for (let made = 0; made < 400_000; made += 1) {
    const one = { a: made, b: made, c: made };
    if (made % 4 === 0) kept[(made / 4) % 20_000] = one;
  }
  const { space_size } = v8.getHeapSpaceStatistics().find((space) => space.space_name === "new_space");
  process.stdout.write(String(space_size / 2 ** 20));
`;

async function youngMebibytes(before: string): Promise<number> {
  const script = `import v8 from "node:v8"; ${before} ${work}`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--max-semi-space-size=32",
    "--input-type=module",
    "--eval",
    script,
  ]);
  return Number(stdout);
}

it("grows to the size that it may have, where V8 by itself is still on its way", async () => {
  const grown = await youngMebibytes(`import { growAtOnce } from ${JSON.stringify(built)}; growAtOnce();`);
  const doubled = await youngMebibytes("");
  expect({ grown, isLess: doubled < grown }).toEqual({ grown: 64, isLess: true });
});
