// One case through spin: generate the verifier, compile it, run it, read what it says.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { HOLDS } from "./cases.mjs";

const folder = fileURLToPath(new URL(".", import.meta.url));

/** What must be installed. The C preprocessor and the compiler come with gcc. */
export const tools = [
  { command: "spin", argument: "-V" },
  { command: "gcc", argument: "--version" },
];

/** Runs a program to its end; a time limit or a missing program is a failure like any other. */
export function run(command, args, directory, limitSeconds) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: directory, stdio: ["ignore", "pipe", "pipe"] });
    const timer = setTimeout(() => child.kill("SIGKILL"), limitSeconds * 1000);
    let output = "";
    const collect = (chunk) => {
      output += chunk;
    };
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
    child.on("error", (error) => {
      clearTimeout(timer);
      resolve({ succeeded: false, output: error.message });
    });
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      const late = signal === null ? "" : `\nended by ${signal}, the limit is ${limitSeconds} s`;
      resolve({ succeeded: code === 0, output: output + late });
    });
  });
}

/**
 * How a case is searched. Depth first for the log; breadth first for the terms, whose time has no bound, so that
 * depth first would need a stack of millions. States are stored whole, except in a case marked `compacted`, which
 * stores a hash of each (HC4) and may pass over some: up to one in ten where both ways were tried.
 */
function settings(entry) {
  const breadthFirst = entry.model === "term-timing" && !entry.depthFirst;
  const thorough = entry.expected === HOLDS;
  // The power of two of the hash table: about the number of states.
  const slots = entry.long ? 27 : thorough ? 22 : 19;
  return {
    compile: [
      thorough ? "-O2" : "-O0",
      "-w",
      "-DSAFETY",
      "-DNOFAIR",
      "-DNOREDUCE",
      ...(breadthFirst ? ["-DBFS"] : []),
      ...(entry.compacted ? ["-DHC4"] : []),
      `-DMEMLIM=${entry.long ? 12_000 : 4_000}`,
    ],
    search: ["-E", "-n", `-w${slots}`, ...(breadthFirst ? [] : [`-m${entry.depthFirst ? 2_000_000 : 10_000}`])],
    limitSeconds: entry.long ? 3600 : 300,
  };
}

/** Checks one case in a folder of its own and returns what was found; `trace` adds the steps that lead there. */
export async function check(entry, scratch, trace = false) {
  const directory = join(scratch, `${entry.model}-${entry.flags.join("-")}`);
  mkdirSync(directory, { recursive: true });
  const flags = entry.flags.map((flag) => `-D${flag}`);
  const source = join(folder, `${entry.model}.pml`);
  const { compile, search, limitSeconds } = settings(entry);
  const generated = await run("spin", ["-a", ...flags, source], directory, 60);
  const compiled = generated.succeeded && (await run("gcc", [...compile, "-o", "pan", "pan.c"], directory, 120));
  if (!compiled?.succeeded)
    return { ...entry, found: "did not compile", passed: false, output: (compiled || generated).output };
  const searched = await run("./pan", search, directory, limitSeconds);
  const result = { ...entry, ...read(searched.output) };
  result.passed = result.found === entry.expected;
  if (!result.passed) result.output = searched.output;
  if (trace && result.found !== HOLDS) {
    const trail = join(directory, `${entry.model}.pml.trail`);
    result.output = (await run("spin", ["-t", "-k", trail, "-p", "-g", ...flags, source], directory, 60)).output;
  }
  return result;
}

/** The verdict and the numbers in the verifier's report. */
function read(output) {
  const number = (pattern) => Number(pattern.exec(output)?.[1] ?? Number.NaN);
  const violated = /assertion violated (\w+)/.exec(output)?.[1];
  const complete =
    /errors: 0/.test(output) && !/Search not completed|max search depth too small|out of memory/.test(output);
  return {
    found: violated ?? (complete ? HOLDS : "no verdict"),
    states: number(/([\d.e+]+) states, stored/),
    depth: number(/depth reached (\d+)/),
    seconds: number(/elapsed time ([\d.e+-]+) seconds/),
  };
}
