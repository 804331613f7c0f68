// `npm run docs`: writes docs/cli.md.
import { writeFileSync } from "node:fs";
import { commands } from "./commands.ts";
import { docsText } from "./docs-text.ts";

writeFileSync(new URL("../../../docs/cli.md", import.meta.url), docsText(commands));
