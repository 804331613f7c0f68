/**
 * What a failed append means to its writer. The set is closed:
 * - `Conflict`: another append came first; definite, not applied, re-read.
 * - `Busy`: another append on the subject is in flight and may yet fail; not applied, and nobody is known to have won.
 * - `Unavailable`: no leader or no JetStream right now; not applied, retry.
 * - `Full`: a size or resource limit; not applied, an operator must act.
 * - `Ambiguous`: it may or may not have been applied, now or later. Only an append with the same expectation tells.
 */
export type AppendRefusal = "Conflict" | "Busy" | "Unavailable" | "Full" | "Ambiguous";

/** The error object of a JetStream reply, as far as it is needed. */
export interface JetStreamErrorReply {
  /** HTTP-like status: 400, 404, 503. */
  readonly code: number;
  /** JetStream's own error number. */
  readonly err_code?: number | undefined;
  readonly description?: string | undefined;
}

/** JetStream's numbers of interest, named as its source names them. */
export const jetStreamErrorCodes = {
  accountResourcesExceeded: 10002,
  noSuitablePeers: 10005,
  clusterNotAvailable: 10008,
  clusterNotLeader: 10009,
  insufficientResources: 10023,
  memoryResourcesExceeded: 10028,
  noMessageFound: 10037,
  notEnabledForAccount: 10039,
  storageResourcesExceeded: 10047,
  messageExceedsMaximum: 10054,
  streamNameExists: 10058,
  streamNotFound: 10059,
  wrongLastSequence: 10071,
  replicasNotSupported: 10074,
  notEnabled: 10076,
  storeFailed: 10077,
  wrongLastSequenceUnknown: 10164,
  tooManyRequests: 10167,
} as const;

const codes = jetStreamErrorCodes;

const refusalByCode: Readonly<Record<number, AppendRefusal>> = {
  [codes.wrongLastSequence]: "Conflict",
  [codes.wrongLastSequenceUnknown]: "Busy",
  [codes.clusterNotAvailable]: "Unavailable",
  [codes.clusterNotLeader]: "Unavailable",
  [codes.notEnabledForAccount]: "Unavailable",
  [codes.notEnabled]: "Unavailable",
  [codes.streamNotFound]: "Unavailable",
  [codes.tooManyRequests]: "Unavailable",
  [codes.accountResourcesExceeded]: "Full",
  [codes.insufficientResources]: "Full",
  [codes.memoryResourcesExceeded]: "Full",
  [codes.storageResourcesExceeded]: "Full",
  [codes.messageExceedsMaximum]: "Full",
};

/**
 * The meaning of an error reply to an append. A store failure is `Full` only when it names a limit, which is checked
 * before anything is written; any other failure of the store, and any number not known here, is `Ambiguous`, because
 * calling an applied append "not applied" is the one mistake that costs safety.
 */
export function refusalOf(error: JetStreamErrorReply): AppendRefusal {
  const number = error.err_code ?? 0;
  if (number === codes.storeFailed)
    return /maximum (bytes|messages)/.test(error.description ?? "") ? "Full" : "Ambiguous";
  return refusalByCode[number] ?? "Ambiguous";
}

/** The last sequence that a `Conflict` reply names ("wrong last sequence: 12"); a hint, since it may be outdated. */
export function lastSequenceOf(error: JetStreamErrorReply): bigint | undefined {
  const digits = /wrong last sequence: (\d+)/.exec(error.description ?? "")?.[1];
  return digits === undefined ? undefined : BigInt(digits);
}
