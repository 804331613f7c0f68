import { Fault } from "@tenure/kernel";
import { archiveNames, releasesUrl } from "./release.ts";
import { recommendedServerVersion } from "./version.ts";

/** The three commands that a person can choose from when no nats-server could be had. */
export function choices(platform: NodeJS.Platform, architecture: string): readonly [string, string, string] {
  return [
    installCommand(platform, architecture),
    withVariable(platform, "TENURE_NATS_SERVER", "/path/to/nats-server"),
    withVariable(platform, "TENURE_NATS_URL", "nats://127.0.0.1:4222"),
  ];
}

/** By the system's package manager where one has a recent version, else the official archive beside the project. */
function installCommand(platform: NodeJS.Platform, architecture: string): string {
  if (platform === "darwin") return "brew install nats-server && npm start";
  if (platform === "win32") return "choco install nats-server; npm start";
  try {
    const archive = archiveNames(recommendedServerVersion, platform, architecture)[0] ?? "";
    const folder = archive.replace(/\.tar\.gz$/, "");
    const fetched = `curl -fsSL ${releasesUrl}/v${recommendedServerVersion}/${archive} | tar -xz`;
    return `${fetched} && TENURE_NATS_SERVER=$PWD/${folder}/nats-server npm start`;
  } catch {
    return `go install github.com/nats-io/nats-server/v2@v${recommendedServerVersion} && PATH=$PATH:$HOME/go/bin npm start`;
  }
}

function withVariable(platform: NodeJS.Platform, name: string, value: string): string {
  return platform === "win32" ? `$env:${name}="${value}"; npm start` : `${name}=${value} npm start`;
}

/** Says what was tried, and the three ways out. */
export function nothingWorked(tried: readonly string[], platform: NodeJS.Platform, architecture: string): Fault {
  const [install, binary, url] = choices(platform, architecture);
  const message = [
    "no nats-server could be found or obtained:",
    ...tried.map((line) => `  - ${line}`),
    "choose one of these three commands:",
    `  1. ${install}`,
    `  2. ${binary}`,
    `  3. ${url}`,
  ].join("\n");
  return new Fault({ code: "FAILED_PRECONDITION", reason: "NATS_SERVER_NOT_FOUND", message });
}
