/** What help says about a STRATEGY: the names that are taken, and which one counts if nobody names any. */
export const strategyDetails = `STRATEGY is OldestCompatibilityVersion (the default), NewestCompatibilityVersion, Priority,
NoCoordination, or domain/name of a vendor; docs/elections.md says what each does.`;
