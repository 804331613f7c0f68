import { Fault } from "@tenure/kernel";
import type { IncarnationReading } from "./incarnation.ts";
import type { StreamFacts } from "./stream-facts.ts";
import { type StreamRole, streamNames, streamRoles } from "./streams.ts";

/** The streams that exist, by role. */
export type StreamsByRole = Readonly<Partial<Record<StreamRole, StreamFacts>>>;

/** The roles that hold something; the probe's stream can be made again at any time. */
const preciousRoles: readonly StreamRole[] = streamRoles.filter((role) => role !== "probe");

/** What `init` finds. `absent` is the only state that it creates in. */
export type DeploymentState = "absent" | "whole" | "being-made" | "partial";

/**
 * Names the state. `being-made` is what another `init` at work looks like: the record's stream exists without its
 * record, and every stream that there is carries one id. Remains of an interrupted one look the same; time tells.
 */
export function deploymentState(streams: StreamsByRole, reading: IncarnationReading): DeploymentState {
  if (streamRoles.every((role) => streams[role] === undefined)) return "absent";
  if (reading.kind === "present" && preciousRoles.every((role) => streams[role] !== undefined)) return "whole";
  const ids = new Set(Object.values(streams).map((facts) => facts.incarnationId));
  const hasNoRecord = reading.kind === "record-missing" || reading.kind === "nothing";
  const isOneInit = hasNoRecord && streams.incarnation !== undefined && ids.size === 1 && !ids.has(undefined);
  return isOneInit ? "being-made" : "partial";
}

/** The refusal of a partial deployment: says what is there, what is missing, and why nothing was made. */
export function partialFault(streams: StreamsByRole, reading: IncarnationReading): Fault {
  const record = "the incarnation record";
  const hasRecord = "incarnation" in reading;
  const names = (exist: boolean): string[] => [
    ...preciousRoles.filter((role) => (streams[role] !== undefined) === exist).map((role): string => streamNames[role]),
    ...(hasRecord === exist ? [record] : []),
  ];
  const present = names(true);
  if (streams.probe !== undefined) present.push(streamNames.probe);
  const missing = names(false);
  return new Fault({
    code: "FAILED_PRECONDITION",
    reason: "PARTIALLY_INITIALIZED",
    message:
      `the deployment is incomplete: ${listed(present)}, but not ${missing.join(", ")}; nothing was created, because a ` +
      "new log beside old records would hand out fencing tokens again; make a new deployment in " +
      "a new data folder, or, if no service has ever run here, delete what is there and run init again",
    details: { attributes: { present: present.join(","), missing: missing.join(",") } },
  });
}

function listed(present: readonly string[]): string {
  return `${present.join(", ")} ${present.length === 1 ? "exists" : "exist"}`;
}
