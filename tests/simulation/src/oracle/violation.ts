/** An invariant that does not hold. The world stops at the first one. */
export class Violation extends Error {
  /** Its number in the safety protocol, for example `I4`. */
  readonly invariant: string;

  constructor(invariant: string, message: string) {
    super(message);
    this.name = "Violation";
    this.invariant = invariant;
  }
}

/** Throws unless the claim is true. */
export function demand(isTrue: boolean, invariant: string, message: () => string): asserts isTrue {
  if (!isTrue) throw new Violation(invariant, message());
}
