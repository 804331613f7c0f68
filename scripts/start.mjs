// `npm start`: from a fresh clone to a running system. Prepares, then hands over to packages/launcher in this process,
// so that signals reach the one that stops everything in order.
import { build, checkNode, installDependencies } from "./prepare.mjs";

checkNode();
installDependencies();
build();
const { main } = await import("../packages/launcher/dist/main.js");
await main(process.argv.slice(2), process.env);
