import { byteLength, checkCandidateName, checkLeaseKey, parseVersionRange } from "@tenure/core";
import { isMap, isSeq, type Node } from "yaml";
import {
  adviceOn,
  anyComponent,
  type ControllerLeader,
  controllerLeaseOf,
  type MigrationConfiguration,
} from "./configuration.ts";
import { DocumentReading, type Field, type Place, shown } from "./document-reading.ts";
import { type Finding, sortFindings } from "./finding.ts";

/** What a document is checked against beside its own rules. */
export interface DocumentOptions {
  /** Controllers that exist, by canonical name; empty or absent does not check. */
  readonly knownControllers?: readonly string[] | undefined;
  /** Former names of controllers, each with its canonical name. */
  readonly aliases?: Readonly<Record<string, string>> | undefined;
  /**
   * Kubernetes' own rule: `resourceLock` is not a field of v1. Otherwise, as in the proposal, `resourceLock: leases` is
   * accepted in every version (statement 113).
   */
  readonly isResourceLockOlder?: boolean | undefined;
}

/** What a document says, and everything that is wrong with it. */
export interface ParsedDocument {
  /** Absent if any finding is more than a warning. */
  readonly configuration: MigrationConfiguration | undefined;
  /** By line. */
  readonly findings: readonly Finding[];
  /** Where each field is, by its path. */
  readonly places: ReadonlyMap<string, Place>;
}

/** The longest document in bytes. */
export const maximumDocumentBytes = 16 * 1024;

/** Our own version: as Kubernetes' v1, and entries may have a `versionRange`. */
export const ownApiVersion = "tenure.dev/v1";
const kubernetesVersions = ["v1", "v1beta1", "v1alpha1"].map((version) => `controllermanager.config.k8s.io/${version}`);
const apiVersions = [...kubernetesVersions, ownApiVersion];
const kind = "LeaderMigrationConfiguration";

/** Reads a migration document: YAML or JSON. Strict, and every finding at once (statements 112 to 114). */
export function parseMigrationDocument(text: string, options: DocumentOptions = {}): ParsedDocument {
  const bytes = byteLength(text);
  const reading = new DocumentReading(bytes > maximumDocumentBytes ? "" : text);
  if (bytes > maximumDocumentBytes) {
    reading.reject(undefined, "", `must be at most ${maximumDocumentBytes} bytes`, `${bytes} bytes`);
  }
  // What cannot be read to the end is not judged further: the rest would be guesses.
  const configuration = reading.findings.length > 0 ? undefined : readTop(reading, options);
  const isRefused = reading.findings.some(({ isWarning }) => !isWarning);
  const findings = sortFindings(reading.findings);
  return { configuration: isRefused ? undefined : configuration, findings, places: reading.places };
}

function readTop(reading: DocumentReading, options: DocumentOptions): MigrationConfiguration | undefined {
  const { top } = reading;
  if (!isMap(top)) {
    reading.reject(top, "", `must be a ${kind}`, top === null ? "" : shown(top));
    return undefined;
  }
  const known = ["apiVersion", "kind", "leaderName", "resourceLock", "controllerLeaders"];
  const fields = reading.fields(top, "", known);
  const apiVersion = oneOf(reading, fields.get("apiVersion"), top, "apiVersion", apiVersions) ?? "";
  oneOf(reading, fields.get("kind"), top, "kind", [kind]);
  checkResourceLock(reading, fields.get("resourceLock"), apiVersion, options);
  const name = reading.text(fields.get("leaderName"), top, "leaderName") ?? "";
  const nameNode = fields.get("leaderName")?.node;
  const illegal = name === "" ? undefined : checkLeaseKey(`n/${name}`)[0];
  if (illegal !== undefined) reading.reject(nameNode, "leaderName", illegal.rule, JSON.stringify(name));
  const controllerLeaders = readLeaders(reading, fields.get("controllerLeaders"), apiVersion, options);
  // Advice is for what is right otherwise.
  for (const rule of reading.findings.length > 0 ? [] : adviceOn(controllerLeaders)) {
    reading.advise(fields.get("controllerLeaders")?.keyNode ?? top, "controllerLeaders", rule);
  }
  return { name, apiVersion, controllerLeaders };
}

function oneOf(
  reading: DocumentReading,
  field: Field | undefined,
  owner: Node,
  path: string,
  choices: readonly string[],
): string | undefined {
  const value = reading.text(field, owner, path);
  if (value === undefined || choices.includes(value)) return value;
  reading.reject(field?.node, path, `must be ${choices.join(" or ")}`, JSON.stringify(value));
  return undefined;
}

function checkResourceLock(
  reading: DocumentReading,
  field: Field | undefined,
  apiVersion: string,
  { isResourceLockOlder }: DocumentOptions,
): void {
  if (field === undefined) return;
  const isOlder = apiVersion.endsWith("v1alpha1") || apiVersion.endsWith("v1beta1");
  if (isResourceLockOlder === true && !isOlder && apiVersion !== "") {
    reading.reject(field.keyNode, field.path, `is not a field of ${apiVersion}`);
  } else oneOf(reading, field, field.node as Node, field.path, ["leases"]);
}

function readLeaders(
  reading: DocumentReading,
  field: Field | undefined,
  apiVersion: string,
  options: DocumentOptions,
): readonly ControllerLeader[] {
  if (field === undefined || shown(field.node) === "null") return [];
  if (!isSeq(field.node)) {
    reading.reject(field.node, field.path, "must be a list of name and component", shown(field.node));
    return [];
  }
  const lines = new Map<string, number>();
  // A version that is not known may be any, so all fields are.
  const hasRange = apiVersion === ownApiVersion || apiVersion === "";
  const known = ["name", "component", ...(hasRange ? ["versionRange"] : [])];
  return (field.node.items as (Node | null)[]).flatMap((item, index) => {
    const path = `${field.path}[${index}]`;
    if (!isMap(item)) {
      reading.reject(item ?? field.node, path, "must have name and component", shown(item));
      return [];
    }
    const fields = reading.fields(item, path, known);
    const name = reading.text(fields.get("name"), item, `${path}.name`);
    const component = reading.text(fields.get("component"), item, `${path}.component`);
    const range = fields.get("versionRange");
    const versionRange = range === undefined ? "" : (reading.text(range, item, range.path) ?? "");
    if (name !== undefined) checkName(reading, fields.get("name"), name, lines, options);
    if (component !== undefined) checkComponent(reading, fields.get("component"), component);
    if (parseVersionRange(versionRange) === undefined) {
      const rule = "must be a range of semantic versions such as '>=1.21.0 <1.23.0'";
      reading.reject(range?.node, `${path}.versionRange`, rule, JSON.stringify(versionRange));
    }
    return name === undefined || component === undefined ? [] : [{ name, component, versionRange }];
  });
}

function checkName(
  reading: DocumentReading,
  field: Field | undefined,
  name: string,
  lines: Map<string, number>,
  { aliases, knownControllers }: DocumentOptions,
): void {
  const reject = (rule: string) => reading.reject(field?.node, field?.path ?? "", rule, JSON.stringify(name));
  const first = lines.get(name);
  if (first !== undefined) reject(`must name each controller once: line ${first} names it too`);
  else lines.set(name, reading.lineOf(field?.node ?? null));
  const canonical = aliases !== undefined && Object.hasOwn(aliases, name) ? aliases[name] : undefined;
  const [illegal] = checkLeaseKey(controllerLeaseOf(name, "n"));
  if (name === anyComponent) reject("must name one controller: * is for components");
  else if (illegal !== undefined) reject(illegal.rule);
  else if (canonical !== undefined) reject(`is a former name: write ${canonical}`);
  else if (knownControllers !== undefined && knownControllers.length > 0 && !knownControllers.includes(name)) {
    reject(`must be a known controller: ${knownControllers.join(", ")}`);
  }
}

function checkComponent(reading: DocumentReading, field: Field | undefined, component: string): void {
  if (component === anyComponent || checkCandidateName(component).length === 0) return;
  const rule = "must be * alone or the name of one component, of 1 to 253 bytes of [-._a-zA-Z0-9]";
  reading.reject(field?.node, field?.path ?? "", rule, JSON.stringify(component));
}
