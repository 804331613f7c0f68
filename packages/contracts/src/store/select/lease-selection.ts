import {
  checkLeaseKey,
  isOfSystem,
  type LeaseKey,
  type LeaseRecord,
  leaseKey,
  maximumNameBytes,
  nameOf,
  namespaceOf,
} from "@tenure/core";
import type { Fault } from "@tenure/kernel";
import type { LeaseServiceListRequest } from "../../gen/tenure/v1/lease.ts";
import type { LeaseSelector } from "../../gen/tenure/v1/selector.ts";
import { Reading, shown } from "../reading.ts";
import { labelTest } from "./label-test.ts";
import { checkRead } from "./read-options.ts";
import { checkStates } from "./state-filter.ts";

const mostSelectors = 100;

/** Which leases a caller asks for. */
export interface LeaseSelection {
  /** Exactly these names are all that can match, so that a lookup will do; undefined if others can. */
  readonly names: readonly LeaseKey[] | undefined;
  /** Whether a record matches any of the selectors. */
  readonly matches: (record: Pick<LeaseRecord, "key" | "spec">) => boolean;
}

/**
 * Which leases one selector of a list asks for; absent or empty selects all outside the system's namespaces. `asked` is
 * what else the list says, and is refused with it.
 */
export function leaseSelection(
  selector: LeaseSelector | undefined,
  asked: Partial<Pick<LeaseServiceListRequest, "read" | "states">> = {},
): LeaseSelection | Fault {
  const reading = new Reading();
  const one = readSelector(reading, "selector", selector);
  checkRead(reading, asked.read);
  checkStates(reading, asked.states ?? []);
  return reading.refusal() ?? one;
}

/** Which leases the selectors of a watch ask for: those that match any. */
export function leaseSelections(selectors: readonly LeaseSelector[]): LeaseSelection | Fault {
  const reading = new Reading();
  if (selectors.length < 1 || selectors.length > mostSelectors) {
    reading.reject("selectors", `must have 1 to ${mostSelectors} entries`, String(selectors.length));
  }
  const all = selectors.map((selector, place) => readSelector(reading, `selectors[${place}]`, selector));
  return reading.refusal() ?? anyOf(all);
}

function anyOf(selections: readonly LeaseSelection[]): LeaseSelection {
  const [only] = selections;
  if (only !== undefined && selections.length === 1) return only;
  const isNamed = selections.every(({ names }) => names !== undefined);
  return {
    names: isNamed ? [...new Set(selections.flatMap(({ names }) => names ?? []))] : undefined,
    matches: (record) => selections.some(({ matches }) => matches(record)),
  };
}

/** One selector, read under the given path; for selectors that stand inside others. */
export function readSelector(reading: Reading, field: string, selector: LeaseSelector | undefined): LeaseSelection {
  const { labels, name = "", namePrefix = "", namespace = "" } = selector ?? {};
  if (namespace === "" && (name !== "" || namePrefix !== "")) {
    reading.reject(`${field}.namespace`, "is required with a name or a prefix", "absent");
  }
  if (name !== "" && namePrefix !== "") {
    reading.reject(`${field}.name_prefix`, "must not be given together with a name", namePrefix);
  }
  checkNames(reading, field, namespace, name, namePrefix);
  const hasLabels = labelTest(reading, `${field}.labels`, labels);
  const isNamed = nameTest(namespace, name, namePrefix);
  return {
    names: name === "" ? undefined : [leaseKey(namespace, name)],
    matches: ({ key, spec }) => isNamed(key) && (hasLabels === undefined || hasLabels(spec.labels)),
  };
}

/** What a name may begin with. */
const prefixPattern = /^[-.:a-z0-9]*$/;

/** Rejects names that no lease can have, rather than finding nothing. */
function checkNames(reading: Reading, field: string, namespace: string, name: string, namePrefix: string): void {
  if (namespace !== "") reading.rejectAll(checkLeaseKey(leaseKey(namespace, name === "" ? "any" : name), field));
  if (namePrefix.length > maximumNameBytes || !prefixPattern.test(namePrefix)) {
    const rule = `must be at most ${maximumNameBytes} bytes of [-.:a-z0-9]`;
    reading.reject(`${field}.name_prefix`, rule, shown(namePrefix));
  }
}

function nameTest(namespace: string, name: string, namePrefix: string): (key: LeaseKey) => boolean {
  // Namespaces that belong to the system are selected only by their name.
  if (namespace === "") return (key) => !isOfSystem(key);
  if (name !== "") {
    const wanted = leaseKey(namespace, name);
    return (key) => key === wanted;
  }
  return (key) => namespaceOf(key) === namespace && nameOf(key).startsWith(namePrefix);
}
