import { type CandidateRecord, checkCandidateName, type LeaseRecord } from "@tenure/core";
import type { Fault } from "@tenure/kernel";
import type { CandidateSelector, CandidateServiceListRequest } from "../../gen/tenure/v1/candidate.ts";
import { Reading } from "../reading.ts";
import { labelTest } from "./label-test.ts";
import { type LeaseSelection, readSelector } from "./lease-selection.ts";
import { checkRead } from "./read-options.ts";

const mostSelectors = 100;

/** Which candidates a caller asks for. */
export interface CandidateSelection {
  /** Exactly these leases are all whose candidates can match; undefined if others can. */
  readonly leases: LeaseSelection["names"];
  readonly matches: (record: Pick<LeaseRecord, "key" | "spec">, candidate: CandidateRecord) => boolean;
}

/**
 * Which candidates one selector of a list asks for; absent or empty selects all outside the system's namespaces. `asked`
 * is what else the list says, and is refused with it.
 */
export function candidateSelection(
  selector: CandidateSelector | undefined,
  asked: Partial<Pick<CandidateServiceListRequest, "read">> = {},
): CandidateSelection | Fault {
  const reading = new Reading();
  const one = readOne(reading, "selector", selector);
  checkRead(reading, asked.read);
  return reading.refusal() ?? one;
}

/** Which candidates the selectors of a watch ask for: those that match any. */
export function candidateSelections(selectors: readonly CandidateSelector[]): CandidateSelection | Fault {
  const reading = new Reading();
  if (selectors.length < 1 || selectors.length > mostSelectors) {
    reading.reject("selectors", `must have 1 to ${mostSelectors} entries`, String(selectors.length));
  }
  const all = selectors.map((selector, place) => readOne(reading, `selectors[${place}]`, selector));
  const isNamed = all.every(({ leases }) => leases !== undefined);
  const any: CandidateSelection = {
    leases: isNamed ? [...new Set(all.flatMap(({ leases }) => leases ?? []))] : undefined,
    matches: (record, candidate) => all.some(({ matches }) => matches(record, candidate)),
  };
  return reading.refusal() ?? any;
}

function readOne(reading: Reading, field: string, selector: CandidateSelector | undefined): CandidateSelection {
  const leases = readSelector(reading, `${field}.lease`, selector?.lease);
  const hasLabels = labelTest(reading, `${field}.labels`, selector?.labels);
  const name = selector?.name ?? "";
  if (name !== "") reading.rejectAll(checkCandidateName(name, `${field}.name`));
  return {
    leases: leases.names,
    matches: (record, candidate) =>
      (name === "" || candidate.name === name) &&
      leases.matches(record) &&
      (hasLabels === undefined || hasLabels(candidate.spec.labels)),
  };
}
