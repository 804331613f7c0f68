/*
 * The log of one partition: what order alone guarantees, with no clock at all.
 *
 * Two replicas may each believe that they own the partition. A batch is appended with the sequence that it
 * expects (prev); the log takes it only if that is its last one. An append may be delayed without bound, also
 * beyond the life of the replica that sent it (a ghost); acknowledgements may be lost. Requests are delivered in
 * any order, any number of times, to any replica, or never. Expiry is allowed at any moment: time is the
 * business of term-timing.pml.
 *
 * A replica's state is a function of the prefix of the log that it has applied, so the model keeps the state
 * once per prefix and each replica only its position.
 *
 * Rules of the protocol: 2, 3, 4, 5, 7, 9, 22. Bounds: N entries in the log, K attempts for each of two
 * clients, CRASHES restarts of replicas, SLOTS appends in flight.
 */
#ifndef N
#define N 5
#endif
#ifndef K
#define K 2
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef SLOTS
#define SLOTS 3
#endif

#define BIT(r) (1 << (r))
#define HAS(mask, r) (((mask) >> (r)) & 1)

/* What one operation of a batch is: nothing, request number op - 1, or one of these. */
#define NOTHING 0
#define EXPIRE 20
#define DELETE 21
#define OWNER_CHANGED 22

/* What a request asks. Zero: not sent yet. */
#define ACQUIRE 1
#define WRITE 2
#define RELEASE 3

/* Where an append is. LOST_RACE: another message took its place, it can never be applied. */
#define IDLE 0
#define IN_FLIGHT 1
#define APPLIED 2
#define LOST_RACE 3

typedef Append { byte state; byte prev; byte epoch; byte by; byte op1; byte op2; byte token; bool disowned }
typedef Prefix { byte epoch; byte by; byte held; byte last; byte recorded }

byte length = 1;            /* last sequence of the log */
Prefix prefix[N + 1];       /* the partition's state after each sequence; held and last are tokens */
Append append[SLOTS];

byte kind[2 * K];           /* request r: attempt r % K of client r / K */
byte argument[2 * K];       /* the token that a write or a release names */
byte intention[2 * K];      /* which wish of the client the attempt serves: a retry under a new number keeps it */
byte granted[2 * K];        /* the token that the log gave to an acquire */
byte acknowledged;          /* requests that were answered with success */
#ifdef FINDING_NEW_NUMBER_AFTER_NO
byte refused;               /* requests of which one copy was answered NO */
#endif

byte position[2];           /* the sequence up to which a replica has applied the log */
byte epochOf[2];            /* the epoch that a replica believes to own; 0: it follows */
byte waitsFor[2];           /* 1 + the append whose outcome a replica does not know; 0: none */
byte probe[2];              /* 1 + the empty append at the same place */
byte crashes;
#ifdef READS
byte readState[2];          /* 1: a read has arrived; 2: an append was sent after it arrived */
byte readMustSee[2];        /* what was acknowledged when the read arrived */
#endif
#ifdef BUG_GUARD_OUTSIDE
byte checked[2];            /* guarded writes that passed a check on arrival */
#endif
#ifdef BUG_TABLE_IN_MEMORY
byte epochStart[2];         /* where the epoch of a replica began */
#endif

/* Monitors: they watch the log and decide nothing. */
byte highestToken;
byte fulfilled;             /* intentions that have had their effect */

/* Each assertion is on a name, so that a violation says which promise was broken. */
bool tokens_strictly_increase = true;
bool no_older_write_after_newer_grant = true;
bool one_effect_per_intention = true;
bool answered_no_means_never_applied = true;
bool acknowledged_is_in_the_log = true;
bool epochs_never_go_back = true;
bool first_batch_of_an_epoch_grants_nothing = true;
bool read_sees_what_was_acknowledged = true;

/* Scratch, 0 between steps. */
byte operation, i, r, s, held, last, recorded, token, idle;
bool valid;
byte choice1, choice2;

inline tidy() {
  operation = 0; i = 0; r = 0; s = 0; held = 0; last = 0; recorded = 0; token = 0; idle = 0; valid = 0;
  choice1 = 0; choice2 = 0
}

/* With -DWITNESS=n the run must fail at place n: it shows that the model gets there at all. */
#ifdef WITNESS
bool never_reached = true;
inline reach(place) { if :: WITNESS == place -> never_reached = false; assert(never_reached) :: else fi }
#else
inline reach(place) { skip }
#endif

/* ---- the log ---- */

/* A tombstone keeps the last token until the partition's prev has passed it (rule 5). */
inline forget(place) {
#ifdef BUG_TOKEN_RESET
  last = 0
#else
#ifdef TOKEN_FROM_LAST
  skip
#else
  if :: place >= last -> last = 0 :: else fi
#endif
#endif
}

inline watchOperation() {
  if
  :: operation == NOTHING || operation == OWNER_CHANGED -> skip
  :: operation == EXPIRE -> held = 0
  :: operation == DELETE -> forget(length)
  :: else ->
    r = operation - 1;
    one_effect_per_intention = !HAS(fulfilled, intention[r]);
    assert(one_effect_per_intention);
    fulfilled = fulfilled | BIT(intention[r]);
    recorded = recorded | BIT(r);
    if
    :: kind[r] == ACQUIRE ->
      tokens_strictly_increase = append[s].token > highestToken;
      assert(tokens_strictly_increase);
      highestToken = append[s].token;
      granted[r] = append[s].token;
      held = append[s].token;
      last = held
    :: kind[r] == WRITE ->
      no_older_write_after_newer_grant = argument[r] >= highestToken;
      assert(no_older_write_after_newer_grant);
      /* The second client writes in a later epoch, after a term of the first. */
      if :: r >= K && append[s].epoch > 1 && HAS(fulfilled, 0) -> reach(1) :: else fi
    :: kind[r] == RELEASE -> held = 0
    fi
  fi
}

/* The log takes append s: it is the next message, and every other append that expected this place has lost. */
inline take() {
  held = prefix[length].held; last = prefix[length].last; recorded = prefix[length].recorded;
  answered_no_means_never_applied = !append[s].disowned;
  assert(answered_no_means_never_applied);
  epochs_never_go_back = append[s].epoch >= prefix[length].epoch;
  assert(epochs_never_go_back);
#ifndef FIRST_BATCH_GRANTS
  first_batch_of_an_epoch_grants_nothing = !(append[s].op1 == OWNER_CHANGED && append[s].token > 0);
  assert(first_batch_of_an_epoch_grants_nothing);
#endif
  operation = append[s].op1; watchOperation();
  operation = append[s].op2; watchOperation();
  length++;
  prefix[length].epoch = append[s].epoch; prefix[length].by = append[s].by;
  prefix[length].held = held; prefix[length].last = last; prefix[length].recorded = recorded;
  acknowledged_is_in_the_log = (acknowledged & (255 - recorded)) == 0;
  assert(acknowledged_is_in_the_log);
  append[s].state = APPLIED;
  if
  :: waitsFor[0] != s + 1 && waitsFor[1] != s + 1 && probe[0] != s + 1 && probe[1] != s + 1 -> reach(2) /* a ghost */
  :: append[s].op1 == NOTHING -> reach(3) /* an empty batch settles an outcome */
  :: else
  fi;
  cleanUp()
}

inline wipe(x) {
  append[x].state = IDLE; append[x].prev = 0; append[x].epoch = 0; append[x].by = 0;
  append[x].op1 = 0; append[x].op2 = 0; append[x].token = 0; append[x].disowned = 0
}

/* Appends that lost their place, and finished ones that nobody waits for, leave the model. */
inline cleanUp() {
  i = 0;
  do
  :: i < SLOTS ->
#ifndef BUG_NO_COMPARE
    if
    :: append[i].state == IN_FLIGHT && append[i].prev != length -> append[i].state = LOST_RACE
    :: else
    fi;
#endif
    if
    :: (append[i].state == APPLIED || append[i].state == LOST_RACE) &&
       waitsFor[0] != i + 1 && waitsFor[1] != i + 1 && probe[0] != i + 1 && probe[1] != i + 1 -> wipe(i)
    :: else
    fi;
    i++
  :: else -> break
  od;
  i = 0
}

active proctype Log() {
  byte slot;
  do
  :: atomic {
      length < N ->
      slot = 0;
      do
      :: slot < SLOTS - 1 -> slot++
      :: break
      od;
      if
#ifdef BUG_NO_COMPARE
      :: append[slot].state == IN_FLIGHT
#else
      :: append[slot].state == IN_FLIGHT && append[slot].prev == length
#endif
        -> d_step { s = slot; slot = 0; take(); tidy() }
      :: else -> slot = 0
      fi
    }
  od
}

/* ---- a replica ---- */

/* Success is said of an attempt; NO only of this batch: another copy of the same attempt may be on its way. */
inline answer(applied) {
  if
  :: operation > NOTHING && operation < EXPIRE && applied -> acknowledged = acknowledged | BIT(operation - 1)
  :: operation > NOTHING && operation < EXPIRE && !applied ->
    answered_no_means_never_applied = append[s].state != APPLIED;
    assert(answered_no_means_never_applied);
    append[s].disowned = 1;
#ifdef FINDING_NEW_NUMBER_AFTER_NO
    refused = refused | BIT(operation - 1);
#endif
    skip
  :: else
  fi
}

inline findFreeSlot() {
  idle = 0;
  do
  :: idle < SLOTS && append[idle].state != IDLE -> idle++
  :: else -> break
  od
}

/* The table of attempts that were recorded, as the decision sees it. */
#ifdef BUG_DUPLICATE_IN_BATCH
#define TABLE prefix[position[o]].recorded
#else
#ifdef BUG_WINDOW_FORGETS
/* Only the newest attempt of each client is kept, and an older one passes for new (K is 2). */
#define TABLE (recorded & (255 - ((recorded >> 1) & 5)))
#else
#ifdef BUG_TABLE_IN_MEMORY
#define TABLE (recorded & (255 - prefix[epochStart[o]].recorded))
#else
#define TABLE recorded
#endif
#endif
#endif

/* One operation, decided on the state that the batch has reached so far. valid says whether it may be in it. */
inline decide(op, place) {
  if
  :: op == NOTHING || op == OWNER_CHANGED -> skip
  :: op == EXPIRE -> if :: held != 0 -> held = 0 :: else -> valid = false fi
  :: op == DELETE -> if :: held == 0 && last != 0 -> forget(place) :: else -> valid = false fi
  :: else ->
    r = op - 1;
    if
    :: HAS(TABLE, r) -> valid = false
    :: else ->
      recorded = recorded | BIT(r);
      if
      :: kind[r] == ACQUIRE && held == 0 && token == 0 ->
#if defined(BUG_TOKEN_RESET) || defined(TOKEN_FROM_LAST)
        token = last + 1;
#elif defined(TOKEN_FROM_PREV)
        token = place + 1;
#else
        token = (place > last -> place + 1 : last + 1);
#endif
        held = token;
        last = token
#ifdef BUG_GUARD_OUTSIDE
      :: kind[r] == WRITE && HAS(checked[o], r)
#else
      :: kind[r] == WRITE && held == argument[r]
#endif
      :: kind[r] == RELEASE && held == argument[r] -> held = 0
      :: else -> valid = false
      fi
    fi
  fi
}

/* Sends a batch for the place after the replica's position, if every operation may be in it. */
inline sendBatch(epoch_) {
  held = prefix[position[o]].held; last = prefix[position[o]].last; recorded = prefix[position[o]].recorded;
  token = 0; valid = true;
  decide(choice1, position[o]);
  if :: valid -> decide(choice2, position[o]) :: else fi;
  findFreeSlot();
  if
  :: valid && idle < SLOTS ->
    append[idle].state = IN_FLIGHT;
    append[idle].prev = position[o]; append[idle].epoch = epoch_; append[idle].by = o;
    append[idle].op1 = choice1; append[idle].op2 = choice2; append[idle].token = token;
    waitsFor[o] = idle + 1;
#ifdef READS
    if :: readState[o] == 1 -> readState[o] = 2 :: else fi;
#endif
#ifdef BUG_ACK_FIRST
    operation = choice1; answer(true);
    operation = choice2; answer(true);
#endif
    skip
  :: else
  fi
}

#define OWN(x) (append[x].state == APPLIED)

/*
 * The replica learns what the message after prev is, by an acknowledgement of its append or of the empty one at
 * the same place, or by reading: rule 3 knows no other way to learn the outcome of an append.
 */
inline learn() {
  if
  :: waitsFor[o] != 0 ->
    s = waitsFor[o] - 1;
#ifdef BUG_IDENTITY_BY_EPOCH
    /* The message carries our epoch, so it must be the batch that we sent last. */
    if
    :: prefix[position[o]].by == o && prefix[position[o]].epoch == append[s].epoch -> valid = (probe[o] == 0)
    :: else -> valid = false
    fi;
#else
    valid = OWN(s);
#endif
    operation = append[s].op1; answer(valid);
    operation = append[s].op2; answer(valid);
    if
    :: valid && append[s].op1 == OWNER_CHANGED ->
      epochOf[o] = append[s].epoch;
#ifdef BUG_TABLE_IN_MEMORY
      epochStart[o] = position[o];
#endif
      skip
    :: else
    fi;
#ifdef READS
    if
    :: valid && readState[o] == 2 ->
      read_sees_what_was_acknowledged = (readMustSee[o] & (255 - prefix[position[o]].recorded)) == 0;
      assert(read_sees_what_was_acknowledged);
      readState[o] = 0; readMustSee[o] = 0
    :: !valid && readState[o] == 2 -> readState[o] = 1
    :: else
    fi;
#endif
    waitsFor[o] = 0; probe[o] = 0
  :: else
  fi;
  if
  :: epochOf[o] != 0 && prefix[position[o]].epoch > epochOf[o] -> stepDown()
  :: else
  fi;
  cleanUp();
  dropPast()
}

/* No replica will look at a state that both have passed: forgetting it joins histories that differ only there. */
inline dropPast() {
#ifndef BUG_TABLE_IN_MEMORY
  i = (position[0] < position[1] -> position[0] : position[1]);
  do
  :: i > 1 ->
    i--;
    prefix[i].epoch = 0; prefix[i].by = 0; prefix[i].held = 0; prefix[i].last = 0; prefix[i].recorded = 0
  :: else -> break
  od;
  i = 0
#else
  skip
#endif
}

inline stepDown() {
  epochOf[o] = 0;
#ifdef READS
  readState[o] = 0; readMustSee[o] = 0;
#endif
#ifdef BUG_TABLE_IN_MEMORY
  epochStart[o] = 0;
#endif
#ifdef BUG_GUARD_OUTSIDE
  checked[o] = 0;
#endif
  skip
}

#if defined(BUG_TIMEOUT_FAILS) || defined(BUG_ABSENCE_FAILS) || defined(BUG_CONFLICT_FAILS)
inline giveUp() {
  s = waitsFor[o] - 1;
  operation = append[s].op1; answer(false);
  operation = append[s].op2; answer(false);
  waitsFor[o] = 0; probe[o] = 0; cleanUp(); tidy()
}
#endif

inline chooseRequest(variable) {
  if
  :: kind[0] != 0 -> variable = 1
  :: kind[K] != 0 -> variable = K + 1
#if K > 1
  :: kind[1] != 0 -> variable = 2
  :: kind[K + 1] != 0 -> variable = K + 2
#endif
#if K > 2
  :: kind[2] != 0 -> variable = 3
  :: kind[K + 2] != 0 -> variable = K + 3
#endif
  :: else -> variable = NOTHING
  fi
}

proctype Replica(byte o) {
  do
  :: d_step { position[o] < length -> position[o]++; learn(); tidy() }

  /* Take over: allowed at any moment, the log decides. */
  :: atomic {
      epochOf[o] == 0 && waitsFor[o] == 0 && position[o] < N ->
      choice1 = OWNER_CHANGED;
#if defined(BUG_FIRST_BATCH_GRANTS) || defined(FIRST_BATCH_GRANTS)
      if :: chooseRequest(choice2) :: skip fi;
#endif
      d_step { sendBatch(prefix[position[o]].epoch + 1); tidy() }
    }

  /* Decide a batch, one at a time. */
  :: atomic {
      epochOf[o] != 0 && waitsFor[o] == 0 && position[o] < N ->
      if
      :: chooseRequest(choice1)
      :: prefix[position[o]].held != 0 -> choice1 = EXPIRE
      :: prefix[position[o]].held == 0 && prefix[position[o]].last != 0 -> choice1 = DELETE
      fi;
      if :: choice1 != NOTHING -> chooseRequest(choice2) :: choice1 != NOTHING :: else fi;
      if
      :: choice1 != NOTHING -> d_step { sendBatch(epochOf[o]); tidy() }
      :: else
      fi
    }

  /* An outcome that stays unknown is forced by an empty batch at the same place. */
  :: d_step {
      waitsFor[o] != 0 && probe[o] == 0 && append[waitsFor[o] - 1].state == IN_FLIGHT ->
      findFreeSlot();
      if
      :: idle < SLOTS ->
        append[idle].state = IN_FLIGHT;
        append[idle].prev = position[o]; append[idle].epoch = append[waitsFor[o] - 1].epoch; append[idle].by = o;
        probe[o] = idle + 1
      :: else
      fi;
      tidy()
    }

  /* A duplicate gets the recorded outcome. */
  :: atomic {
      epochOf[o] != 0 && waitsFor[o] == 0 ->
      chooseRequest(choice1);
      d_step {
        if
#ifdef BUG_TOO_OLD_SAYS_NO
        /* The outcome has left the window, and the refusal claims that nothing was applied (K is 2). */
        :: (choice1 == 1 || choice1 == 3) && HAS(prefix[position[o]].recorded, choice1) ->
          answered_no_means_never_applied = !HAS(prefix[position[o]].recorded, choice1 - 1);
          assert(answered_no_means_never_applied)
#endif
        :: choice1 != NOTHING && HAS(prefix[position[o]].recorded, choice1 - 1) ->
          if :: !HAS(acknowledged, choice1 - 1) -> reach(4) :: else fi;
          operation = choice1; answer(true)
        :: else
        fi;
        tidy()
      }
    }

  /* The process ends and a new one begins with nothing in memory; what it sent may still arrive. */
  :: d_step {
      crashes < CRASHES && (epochOf[o] != 0 || waitsFor[o] != 0) ->
      crashes++; waitsFor[o] = 0; probe[o] = 0; stepDown(); cleanUp(); tidy()
    }

#ifdef READS
  :: d_step { epochOf[o] != 0 && readState[o] == 0 -> readState[o] = 1; readMustSee[o] = acknowledged }
  /* Nothing to append: an empty batch carries the read. */
  :: d_step {
      epochOf[o] != 0 && waitsFor[o] == 0 && readState[o] == 1 && position[o] < N ->
      sendBatch(epochOf[o]); tidy()
    }
#ifdef BUG_READ_FROM_MEMORY
  :: d_step {
      epochOf[o] != 0 && readState[o] == 1 ->
      read_sees_what_was_acknowledged = (readMustSee[o] & (255 - prefix[position[o]].recorded)) == 0;
      assert(read_sees_what_was_acknowledged);
      readState[o] = 0; readMustSee[o] = 0
    }
#endif
#endif

#ifdef BUG_TIMEOUT_FAILS
  :: d_step { waitsFor[o] != 0 && append[waitsFor[o] - 1].state == IN_FLIGHT -> giveUp() }
#endif
#ifdef BUG_ABSENCE_FAILS
  /* The log is read to its end, the batch is not there, so it must have failed. */
  :: d_step { waitsFor[o] != 0 && position[o] == length -> giveUp() }
#endif
#ifdef BUG_CONFLICT_FAILS
  /* The batch was sent a second time; the refusal of one copy is taken for the failure of the batch. */
  :: d_step { waitsFor[o] != 0 && append[waitsFor[o] - 1].state != IN_FLIGHT -> giveUp() }
#endif
#ifdef BUG_BLIND_RETRY
  /* The refusal names the last sequence; the batch is sent again for that place without reading what is there. */
  :: d_step {
      waitsFor[o] != 0 && append[waitsFor[o] - 1].state == LOST_RACE && length < N ->
      append[waitsFor[o] - 1].state = IN_FLIGHT; append[waitsFor[o] - 1].prev = length; position[o] = length
    }
#endif
#ifdef BUG_GUARD_OUTSIDE
  :: atomic {
      epochOf[o] != 0 ->
      chooseRequest(choice1);
      d_step {
        if
        :: choice1 != NOTHING && kind[choice1 - 1] == WRITE && argument[choice1 - 1] == prefix[position[o]].held ->
          checked[o] = checked[o] | BIT(choice1 - 1)
        :: else
        fi;
        tidy()
      }
    }
#endif
  od
}

/* ---- a client ---- */

#if defined(BUG_RETRY_NEW_ATTEMPT) || defined(FINDING_NEW_NUMBER_AFTER_NO)
inline again() {
  kind[base + attempt] = kind[base + attempt - 1];
  argument[base + attempt] = argument[base + attempt - 1];
  intention[base + attempt] = intention[base + attempt - 1];
  attempt++
}
#endif

proctype Client(byte base) {
  byte attempt = 1;
  do
  /* The first wish, an acquire, is there from the start (see init); the next ones come once it was granted. */
  :: atomic {
      attempt < K && HAS(acknowledged, base) ->
      argument[base + attempt] = granted[base];
      intention[base + attempt] = base + attempt;
      if
      :: kind[base + attempt] = WRITE
      :: kind[base + attempt] = RELEASE
      :: argument[base + attempt] = 0; kind[base + attempt] = ACQUIRE
      fi;
      attempt++
    }
  /*
   * A retry is the same attempt, sent once more: the model delivers every request any number of times. Here the
   * same wish goes out under a new number instead.
   */
#ifdef BUG_RETRY_NEW_ATTEMPT
  :: atomic { attempt < K && !HAS(acknowledged, base + attempt - 1) -> again() }
#endif
#ifdef FINDING_NEW_NUMBER_AFTER_NO
  :: atomic { attempt < K && HAS(refused, base + attempt - 1) -> again() }
#endif
  od
}

init {
  atomic {
    prefix[1].epoch = 1;
    position[0] = 1; position[1] = 1;
    epochOf[0] = 1;
    kind[0] = ACQUIRE;
    kind[K] = ACQUIRE; intention[K] = K;
    run Replica(0); run Replica(1); run Client(0); run Client(K)
  }
}
