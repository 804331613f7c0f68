// Writes a line to the journal every 20 ms for as long as it lives: what a program does under a term. With "parent" it
// starts a copy of itself in its own process group; with "stubborn" it does not listen to SIGTERM.
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";

const [journal, ...traits] = process.argv.slice(2);
if (traits.includes("parent")) {
  spawn(process.execPath, [process.argv[1], journal, "stubborn"], { stdio: "ignore" });
}
if (traits.includes("stubborn")) process.on("SIGTERM", () => {});
const beat = () => appendFileSync(journal, `${process.env.TENURE_TOKEN} ${process.pid} ${process.hrtime.bigint()}\n`);
beat();
setInterval(beat, 20);
