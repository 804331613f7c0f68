import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { commands } from "./commands.ts";
import { docsText } from "./docs-text.ts";

describe("docs/cli.md", () => {
  it("is what the table of commands says; npm run docs -w @tenure/cli writes it", () => {
    const page = readFileSync(new URL("../../../docs/cli.md", import.meta.url), "utf8");
    expect(page).toBe(docsText(commands));
  });
});
