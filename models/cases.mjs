// What is checked: the protocol as it stands, bugs that must be found, and places that the models must reach.

/** A model that holds: every state within its bounds was visited and no assertion failed. */
export const HOLDS = "holds";

const log = (name, flags, expected, rules) => ({ model: "owner-log", name, flags, expected, rules });
const time = (name, flags, expected, rules) => ({ model: "term-timing", name, flags, expected, rules });
const long = (entry, options = {}) => ({ ...entry, long: true, ...options });

/** The protocol, and two variants that show which half of a rule carries it. */
const protocol = [
  log("log of 5", ["N=5", "CRASHES=0"], HOLDS, "2 3 4 5 9 22"),
  log("log of 4, a replica ends", ["N=4"], HOLDS, "2 3 4 5 9 22"),
  log("log of 4, with reads", ["N=4", "CRASHES=0", "READS"], HOLDS, "7"),
  time("terms: ghosts and takeover", ["GHOSTS"], HOLDS, "3 9 11 17"),
  time("terms: wait and retry", ["WAIT", "RETRY"], HOLDS, "4 10 12"),
  time("terms: elect, accept, retry", ["ELECT", "RETRY"], HOLDS, "4 18"),
  time("terms: delete and revoke", ["REMOVE"], HOLDS, "15"),
  long(log("log of 5, a replica ends", ["N=5"], HOLDS, "2 3 4 5 9 22")),
  long(time("terms: wait, elect, retry", ["WAIT", "ELECT", "RETRY"], HOLDS, "4 10 12 18")),
  long(log("log of 6, a replica ends", ["N=6"], HOLDS, "2 3 4 5 9 22")),
  long(log("log of 6, three ends (compacted)", ["N=6", "CRASHES=3"], HOLDS, "3 9"), { compacted: true }),
  long(log("log of 5, with reads", ["N=5", "READS"], HOLDS, "7")),
  long(log("log of 4, three attempts", ["N=4", "K=3"], HOLDS, "4")),
  long(log("log of 5, four appends in flight", ["N=5", "SLOTS=4"], HOLDS, "3")),
  long(log("token = last + 1 alone", ["N=5", "TOKEN_FROM_LAST"], HOLDS, "5")),
  long(log("token = prev + 1 alone", ["N=5", "TOKEN_FROM_PREV"], HOLDS, "5")),
  long(log("first batch may grant", ["N=5", "FIRST_BATCH_GRANTS"], HOLDS, "9")),
  long(time("terms: first batch may grant", ["WAIT", "GHOSTS", "FIRST_BATCH_GRANTS"], HOLDS, "9")),
  long(time("terms: everything", ["WAIT", "ELECT", "RETRY", "REMOVE", "GHOSTS"], HOLDS, "3 4 9-12 15 17 18")),
  long(time("terms: finer ticks, ghosts", ["H=2", "GHOSTS"], HOLDS, "9 11 17")),
  long(time("terms: finer ticks, wait, elect", ["H=2", "WAIT", "ELECT", "RETRY"], HOLDS, "10 12 18")),
  long(time("terms: finer ticks, delete", ["H=2", "REMOVE"], HOLDS, "15")),
  long(time("terms: two ticks of drift", ["SLOW=2", "FAST=2", "WAIT", "RETRY"], HOLDS, "11 12")),
  long(time("terms: every tick chosen", ["DRIFT"], HOLDS, "11 17"), { depthFirst: true }),
  long(time("terms: every tick chosen, elect", ["DRIFT", "ELECT"], HOLDS, "18"), { depthFirst: true }),
];

/** One mistake each. The run fails unless the mistake is found by the assertion that stands for the rule. */
const planted = [
  log("acknowledge before the append", ["BUG_ACK_FIRST"], "acknowledged_is_in_the_log", "3"),
  log("a timed-out append has failed", ["BUG_TIMEOUT_FAILS"], "answered_no_means_never_applied", "3"),
  log("absence in a read is failure", ["BUG_ABSENCE_FAILS"], "answered_no_means_never_applied", "3"),
  log("a refused second copy is failure", ["BUG_CONFLICT_FAILS"], "answered_no_means_never_applied", "3"),
  log("a batch is known by its epoch", ["BUG_IDENTITY_BY_EPOCH"], "answered_no_means_never_applied", "2 3"),
  log("retry at the last sequence, unread", ["BUG_BLIND_RETRY"], "epochs_never_go_back", "2 9"),
  log("the log does not compare", ["BUG_NO_COMPARE"], "answered_no_means_never_applied", "2 3"),
  log("deletion resets the token", ["BUG_TOKEN_RESET"], "tokens_strictly_increase", "5"),
  log("guard checked outside the order", ["BUG_GUARD_OUTSIDE"], "no_older_write_after_newer_grant", "22"),
  log("retry under a new number", ["BUG_RETRY_NEW_ATTEMPT"], "one_effect_per_intention", "4"),
  log("new number after one copy's NO", ["FINDING_NEW_NUMBER_AFTER_NO"], "one_effect_per_intention", "4"),
  log("attempts kept in memory only", ["BUG_TABLE_IN_MEMORY"], "one_effect_per_intention", "4"),
  log("duplicate within one batch", ["BUG_DUPLICATE_IN_BATCH"], "one_effect_per_intention", "4"),
  log("too old an attempt passes for new", ["BUG_WINDOW_FORGETS"], "one_effect_per_intention", "4"),
  log("too old an attempt is told NO", ["BUG_TOO_OLD_SAYS_NO"], "answered_no_means_never_applied", "4"),
  log("first batch of an epoch grants", ["BUG_FIRST_BATCH_GRANTS"], "first_batch_of_an_epoch_grants_nothing", "9"),
  log("read answered from memory", ["READS", "BUG_READ_FROM_MEMORY"], "read_sees_what_was_acknowledged", "7"),
  ...[
    time("deadline from the response", ["BUG_FROM_RESPONSE"], "", "11"),
    time("answer taken for the latest send", ["BUG_LATEST_SEND"], "", "11"),
    time("recorded answer, deadline of the retry", ["RETRY", "BUG_RECORD_FROM_RESEND"], "", "4 11"),
    time("answer to an attempt that was left", ["RETRY", "BUG_LATE_ANSWER"], "", "4"),
    time("margin one tick too small", ["BUG_MARGIN"], "", "(1)"),
    time("expiry by the stored time", ["BUG_STORED_TIME"], "", "17"),
    time("grant timed from its arrival", ["WAIT", "BUG_GRANT_ARRIVAL"], "", "12"),
    time("grant timed from the newest beat sent", ["WAIT", "BUG_NEWEST_BEAT"], "", "12"),
    time("accept timed from the election", ["ELECT", "BUG_OWNER_FROM_ELECTION"], "", "18"),
    time("deletion frees a running term", ["REMOVE", "BUG_DELETE_FREES"], "", "15"),
    time("release without its token", ["BUG_RELEASE_BY_NAME"], "", "15"),
    time("acquire continues the running term", ["BUG_SAME_TERM_AGAIN"], "", "5 14"),
    time("grant acknowledged before the append", ["BUG_ACK_FIRST"], "", "3"),
  ].map((entry) => ({ ...entry, flags: [...entry.flags, "ONLY_EXCLUSION"], expected: "at_most_one_acting_holder" })),
  time("pending holder acts", ["ELECT", "BUG_PENDING_ACTS"], "pending_never_acts", "18"),
];

/** Places that a model must reach, so that "holds" does not mean "nothing happened". */
const reached = [
  log("write in a later epoch", ["WITNESS=1"], "never_reached", "22"),
  log("ghost append applied", ["WITNESS=2"], "never_reached", "3"),
  log("empty batch settles an outcome", ["WITNESS=3"], "never_reached", "3"),
  log("duplicate answered from the record", ["WITNESS=4"], "never_reached", "4"),
  time("expiry by a new owner", ["WITNESS=1"], "never_reached", "17"),
  time("term from a wait", ["WAIT", "WITNESS=2"], "never_reached", "12"),
  time("term from an accept", ["ELECT", "WITNESS=3"], "never_reached", "18"),
  time("renewal undoes a delete", ["REMOVE", "WITNESS=4"], "never_reached", "15"),
  time("ghost grant applied", ["GHOSTS", "WITNESS=5"], "never_reached", "3"),
  time("retry answered in time", ["RETRY", "WITNESS=6"], "never_reached", "4"),
];

/** All cases, in the order of the table. */
export const cases = [
  ...protocol.map((entry) => ({ kind: "protocol", ...entry })),
  ...planted.map((entry) => ({ kind: "planted", ...entry })),
  ...reached.map((entry) => ({ kind: "reached", ...entry })),
];
