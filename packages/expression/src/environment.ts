import { Environment } from "@marcbachmann/cel-js";
import { compareVersions, isInRange, parseVersion, parseVersionRange, type SemanticVersion } from "@tenure/core";

/** The most parts that an expression may have. With no loops in the language it is also the most that are evaluated. */
export const maximumNodes = 256;

const candidate = {
  name: "string",
  binary_version: "string",
  compatibility_version: "string",
  labels: "map<string, string>",
  zone: "string",
  preference: "string",
  priority: "int",
  component: "string",
};

const lease = {
  namespace: "string",
  name: "string",
  labels: "map<string, string>",
  zone_preference: "list<string>",
};

/** What a ranking expression may refer to, with types, and how large it may be. */
export function rankingEnvironment(): Environment {
  const limits = {
    maxAstNodes: maximumNodes,
    maxDepth: 32,
    maxListElements: 64,
    maxMapEntries: 64,
    maxCallArguments: 4,
  };
  return new Environment({ limits })
    .registerVariable({ name: "candidate", schema: candidate })
    .registerVariable({ name: "holder", schema: candidate })
    .registerVariable({ name: "lease", schema: lease })
    .registerFunction("compareVersions(string, string): int", (left: string, right: string) =>
      BigInt(Math.sign(compareVersions(versionOf(left), versionOf(right)))),
    )
    .registerFunction("versionIn(string, string): bool", (text: string, range: string) => {
      const parsed = parseVersionRange(range);
      if (parsed === undefined) throw new Error(`${JSON.stringify(range)} is not a range of versions`);
      return isInRange(versionOf(text), parsed);
    });
}

function versionOf(text: string): SemanticVersion {
  const version = parseVersion(text);
  if (version === undefined) throw new Error(`${JSON.stringify(text)} is not a semantic version x.y.z`);
  return version;
}
