import type { LeaseKey } from "../key.ts";
import type { CommandBody } from "../partition/command.ts";
import type { ElectionAction } from "./decision.ts";

/** What a coordinator adds to a decision's action to make a command of it. */
export interface Ballot {
  readonly coordinator: string;
  /** The decision as it is kept for Explain; recorded by commands that choose or end. */
  readonly decision: { readonly id: string; readonly body: Uint8Array };
}

/** The command that carries out a decision; undefined when there is nothing to do. */
export function electionCommand(action: ElectionAction, lease: LeaseKey, ballot: Ballot): CommandBody | undefined {
  const { coordinator, decision } = ballot;
  switch (action.kind) {
    case "none":
      return undefined;
    case "ping":
      return { kind: "pingCandidates", lease, candidates: action.candidates, coordinator };
    case "elect":
      return { ...action, lease, coordinator, decision };
    case "markEndOfTerm":
      return { ...action, lease, decision };
    case "clearEndOfTerm":
    case "putStrategy":
      return { ...action, lease };
  }
}
