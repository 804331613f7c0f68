import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Where the .proto files and buf's configuration are. */
export const protoFolder = fileURLToPath(new URL("../../../proto", import.meta.url));

/** Runs buf in the proto folder and returns what it prints; its complaints go straight to the terminal. */
export function buf(...args) {
  try {
    return execFileSync("buf", args, {
      cwd: protoFolder,
      stdio: ["ignore", "pipe", "inherit"],
      maxBuffer: 64 * 1024 * 1024,
      // npm runs scripts with a .cmd shim of buf on Windows, which only a shell can start.
      shell: process.platform === "win32",
    });
  } catch (error) {
    if (error.stdout?.length > 0) process.stderr.write(error.stdout);
    if (error.status === undefined || error.status === null) throw error;
    process.exit(error.status);
  }
}
