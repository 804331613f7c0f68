// `npm start`: from a fresh clone to a running system. Prepares, then hands over to packages/launcher in this process,
// so that signals reach the one that stops everything in order.
import { build, checkNode, installDependencies } from "./prepare.mjs";

checkNode();
installDependencies();
build();
await import("../packages/launcher/dist/start.js");
