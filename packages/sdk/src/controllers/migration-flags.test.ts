import { describe, expect, it } from "vitest";
import { isTenureError, type TenureError } from "../errors.ts";
import { migrationFlags } from "./migration-flags.ts";

const document = `kind: LeaderMigrationConfiguration
apiVersion: controllermanager.config.k8s.io/v1
leaderName: cloud
controllerLeaders:
  - name: route
    component: cloud-controller-manager
`;
const files: Readonly<Record<string, string>> = {
  "cloud.yaml": document,
  "net.yaml": document.replace("cloud", "net").replace("route", "ipam"),
  "broken.yaml": document.replace("leaderName: cloud", "leader: cloud").replace("name: route", "nam: route"),
};
const readFile = (path: string): string => {
  const text = files[path];
  if (text === undefined) throw new Error(`no such file ${path}`);
  return text;
};
const read = (line: string) => migrationFlags(line.split(" "), { readFile })?.map(({ name }) => name);

function errorOf(line: string): TenureError {
  try {
    read(line);
  } catch (error) {
    if (isTenureError(error)) return error;
  }
  throw new Error(`${line} was accepted`);
}

describe("the flags of leader migration", () => {
  it.each<[string, readonly string[] | undefined]>([
    ["", undefined],
    ["--port 80 other", undefined],
    ["--enable-leader-migration=false", undefined],
    ["--leader-migration-config=", undefined],
    ["--enable-leader-migration", ["cloud-provider-extraction-migration"]],
    ["--enable-leader-migration --leader-migration-config=", ["cloud-provider-extraction-migration"]],
    ["--enable-leader-migration=true --leader-migration-config=cloud.yaml", ["cloud"]],
    ["--leader-migration-config cloud.yaml --enable-leader-migration", ["cloud"]],
    [
      "--enable-leader-migration --leader-migration-config=cloud.yaml --leader-migration-config net.yaml",
      ["cloud", "net"],
    ],
  ])("[110] `%s` gives %s", (line, names) => expect(read(line)).toEqual(names));

  it("[110] uses the component's own default configuration, if it has one", () => {
    const defaults = { name: "ours", apiVersion: "tenure.dev/v1", controllerLeaders: [] };
    expect(migrationFlags(["--enable-leader-migration"], { defaults })).toEqual([defaults]);
  });

  it.each<[string, string, RegExp]>([
    ["--leader-migration-config=cloud.yaml", "MIGRATION_NOT_ENABLED", /needs --enable-leader-migration/],
    [
      "--enable-leader-migration=false --leader-migration-config cloud.yaml",
      "MIGRATION_NOT_ENABLED",
      /needs --enable-leader-migration/,
    ],
    [
      "--enable-leader-migration --leader-migration-config=away.yaml",
      "MIGRATION_FILE_UNREADABLE",
      /cannot be read: no such file away.yaml/,
    ],
    ["--enable-leader-migration --leader-migration-config=broken.yaml", "DOCUMENT_INVALID", /line 3.*line 5/],
    ["--enable-leader-migration --leader-migration-config", "OPTION_INVALID", /must name a file \(got nothing\)/],
    [
      "--leader-migration-config --enable-leader-migration",
      "OPTION_INVALID",
      /must name a file \(got --enable-leader-migration\)/,
    ],
    ["--enable-leader-migration=maybe", "OPTION_INVALID", /must be true or false \(got maybe\)/],
  ])("[111] `%s` is fatal with %s", (line, reason, message) => {
    const error = errorOf(line);
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", reason, retryable: false });
    expect(error.message).toMatch(message);
  });
});
