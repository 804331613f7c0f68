/*
 * One lease, two clients, two replicas that own its partition by turns: when a term begins and ends.
 *
 * Time is a global tick. Every instant is kept as its age, up to the age at which it no longer matters, so the
 * model has finitely many states and time has no bound. A message may be delayed without bound, lost, or
 * delivered twice; an append may be applied after the replica that sent it is gone.
 *
 * Clocks: a holder's H lasts at most H + SLOW ticks on its slow clock, an owner's L at least L - FAST ticks on
 * its fast one. A holder may stop at any earlier moment and an owner may expire at any later one, so these two
 * extremes stand for every rate in between. With -DDRIFT each tick of each clock is chosen instead: a client's
 * clock may lose SLOW ticks and an owner's may gain FAST over the whole run. H includes sigma.
 *
 * An owner's L runs from the instant at which the request reached it. The model takes the earliest such instant,
 * the one at which it was sent.
 *
 * Rules of the protocol: 3, 4, 9-12, 15, 17, 18. Parts, each by a flag: WAIT (the second client waits in a queue
 * and sends wait-beats), ELECT (a coordinator elects, the candidate accepts), REMOVE (delete and revoke),
 * RETRY (an attempt is sent again and answered from the record), GHOSTS (replicas end, their appends do not).
 */
#ifndef H
#define H 1
#endif
#ifndef SLOW
#define SLOW 1
#endif
#ifndef FAST
#define FAST 1
#endif
#ifdef BUG_MARGIN
#define L (H + SLOW + FAST - 1)
#else
#ifndef L
#define L (H + SLOW + FAST)
#endif
#endif

#ifdef DRIFT
#define TERM H
#define WAIT_BEFORE_EXPIRY L
#define CAP L
#else
#define TERM (H + SLOW)
#define WAIT_BEFORE_EXPIRY (L - FAST)
#define CAP (H + SLOW)
#endif

/* The lease as the log has it. DELETED and REVOKED are tombstones of a running term. */
#define FREE 0
#define PENDING 1
#define HELD 2
#define DELETED 3
#define REVOKED 4
#define RUNNING (phase >= HELD)

/* Requests, batches and replies. */
#define NOTHING 0
#define ACQUIRE 1
#define RENEW 2
#define ACCEPT 3
#define GRANT_WAITER 4
#define RELEASE 5
#define EXPIRE 6
#define CHOOSE 7
#define LAPSE 8
#define DELETE 9
#define REVOKE 10
#define TAKE_OVER 11
#define TAKE_OVER_AND_GRANT 12

#define IDLE 0
#define IN_FLIGHT 1
#define APPLIED 2

/* age: ticks since the client sent it. */
typedef Message { byte kind; byte age }
/* since: ticks from which the owner counts L. current: the acquire is of the client's present attempt. */
typedef Append { byte state; byte kind; byte client; byte age; byte since; bool current }

byte phase = FREE;
byte holder;                /* 1 + the client, 0 for none */
Append append[3];           /* one of each replica, and a ghost */

byte remaining[2];          /* ticks for which the client still passes its own check; 0: it does not act */
byte attempt[2];            /* the open attempt of a client: ACQUIRE, ACCEPT or NOTHING */
Message request[2];
byte releasing[2];          /* a release on its way: 2 of the present term, 1 of a past one */
Message reply[2];
bool recorded[2];           /* the open attempt has its outcome in the log ... */
byte recordedAge[2];        /* ... and this is the age of the send that was committed */

bool isOwner[2];
bool behind[2];             /* the replica has not applied the whole log */
bool seen[2];               /* the replica has seen the last renewal ... */
byte timer[2];              /* ... this many ticks of its clock ago */
#ifdef WAIT
byte beat;                  /* 1 + age of a wait-beat on its way; the second client waits */
byte heard;                 /* 1 + age of the newest beat that the owner has received; a new owner has none */
#endif
#if defined(BUG_LATEST_SEND) || defined(BUG_NEWEST_BEAT)
byte newest[2];             /* age of what the client sent last */
#endif
#ifdef DRIFT
byte slow[2], fast[2];
#endif

/* Each assertion is on a name, so that a violation says which promise was broken. */
bool at_most_one_acting_holder = true;
bool pending_never_acts = true;
bool who_acts_holds_in_the_log = true;

/* Scratch, 0 between steps. */
byte i, n, from;

inline check() {
  at_most_one_acting_holder = !(remaining[0] > 0 && remaining[1] > 0);
  assert(at_most_one_acting_holder);
#ifndef ONLY_EXCLUSION
  pending_never_acts = !(phase == PENDING && remaining[holder - 1] > 0);
  assert(pending_never_acts);
  who_acts_holds_in_the_log =
    (remaining[0] == 0 || (RUNNING && holder == 1)) && (remaining[1] == 0 || (RUNNING && holder == 2));
  assert(who_acts_holds_in_the_log);
#endif
}

/* With -DWITNESS=n the run must fail at place n: it shows that the model gets there at all. */
#ifdef WITNESS
bool never_reached = true;
inline reach(place) { if :: WITNESS == place -> never_reached = false; assert(never_reached) :: else fi }
#else
inline reach(place) { skip }
#endif

/* ---- time ---- */

inline older(x) { if :: x < CAP -> x++ :: else fi }

/* An answer to something that was sent longer than a term ago changes nothing. */
#if defined(BUG_FROM_RESPONSE) || defined(BUG_LATEST_SEND) || defined(BUG_NEWEST_BEAT) || defined(BUG_GRANT_ARRIVAL)
#define USELESS(age_) false
#else
#define USELESS(age_) ((age_) >= TERM)
#endif

inline dropUseless(d) {
  if :: reply[d].kind != NOTHING && USELESS(reply[d].age) -> reply[d].kind = NOTHING; reply[d].age = 0 :: else fi
}

inline clear(x) {
  append[x].state = IDLE; append[x].kind = 0; append[x].client = 0; append[x].age = 0; append[x].since = 0;
  append[x].current = 0
}

inline dropUselessAppend(x) {
  if :: append[x].state == APPLIED && USELESS(append[x].age) -> clear(x) :: else fi
}

inline tickClient(c) {
  if :: remaining[c] > 0 -> remaining[c]-- :: else fi;
  if :: request[c].kind != NOTHING -> older(request[c].age) :: else fi;
  if :: reply[c].kind != NOTHING -> older(reply[c].age) :: else fi;
  if :: recorded[c] -> older(recordedAge[c]) :: else fi;
  i = 0;
  do
  :: i < 3 ->
    if :: append[i].state != IDLE && append[i].client == c -> older(append[i].age); dropUselessAppend(i) :: else fi;
    i++
  :: else -> break
  od;
  i = 0;
#if defined(BUG_LATEST_SEND) || defined(BUG_NEWEST_BEAT)
  older(newest[c]);
#endif
  dropUseless(c)
}

inline tickReplica(o) {
  if :: seen[o] -> older(timer[o]) :: else fi;
  if :: append[o].state == IN_FLIGHT -> older(append[o].since) :: else fi
}

#ifdef WAIT
inline tickBeats() {
  if :: beat != 0 && beat <= CAP -> beat++ :: else fi;
  if :: heard != 0 && heard <= CAP -> heard++ :: else fi
}
#endif

active proctype Clock() {
  do
#ifdef DRIFT
  :: atomic {
      if
      :: d_step { tickClient(0) }
      :: slow[0] < SLOW -> slow[0]++
      fi;
      if
#ifdef WAIT
      :: d_step { tickClient(1); tickBeats() }
#else
      :: d_step { tickClient(1) }
#endif
      :: slow[1] < SLOW -> slow[1]++
      fi;
      if
      :: d_step { tickReplica(0) }
      :: fast[0] < FAST -> d_step { fast[0]++; tickReplica(0); tickReplica(0) }
      fi;
      if
      :: d_step { tickReplica(1) }
      :: fast[1] < FAST -> d_step { fast[1]++; tickReplica(1); tickReplica(1) }
      fi
    }
#else
  :: d_step {
      tickClient(0); tickClient(1); tickReplica(0); tickReplica(1);
#ifdef WAIT
      tickBeats();
#endif
      skip
    }
#endif
  od
}

/* ---- the log ---- */

/* What names a term by its token is void once that term is over. */
inline endTerm() {
  i = 0;
  do
  :: i < 2 ->
    if
    :: request[i].kind == RENEW || request[i].kind == ACCEPT -> request[i].kind = NOTHING; request[i].age = 0
    :: else
    fi;
#ifdef BUG_RELEASE_BY_NAME
    if :: releasing[i] == 2 -> releasing[i] = 1 :: else fi;
#else
    releasing[i] = 0;
#endif
    seen[i] = 0; timer[i] = 0;
    i++
  :: else -> break
  od;
  i = 0
}

/* A renewing batch is in the log: each replica counts from when it has seen it. */
inline renewed() {
#ifdef BUG_OWNER_FROM_ELECTION
  if
  :: append[n].kind == ACCEPT -> skip
  :: else -> seen[0] = 0; seen[1] = 0; timer[0] = 0; timer[1] = 0
  fi
#else
  seen[0] = 0; seen[1] = 0; timer[0] = 0; timer[1] = 0
#endif
}

inline grant() {
  endTerm();
  phase = HELD; holder = append[n].client + 1;
  renewed();
  record()
}

/* The outcome of the attempt is part of the partition's state, with the send that was committed (rule 4). */
inline record() {
#if defined(RETRY) || defined(WAIT)
  from = append[n].client;
  if
  :: append[n].current && attempt[from] != NOTHING -> recorded[from] = 1; recordedAge[from] = append[n].age
  :: attempt[from] == NOTHING && request[from].kind == ACQUIRE -> request[from].kind = NOTHING; request[from].age = 0
  :: else
  fi;
  from = 0
#else
  skip
#endif
}

inline replaceOwner() {
  isOwner[0] = 0; isOwner[1] = 0;
#ifdef WAIT
  heard = 0;
#endif
  skip
}

inline applyAppend() {
  if
  :: append[n].kind == ACQUIRE || append[n].kind == GRANT_WAITER -> grant()
  :: append[n].kind == ACCEPT -> phase = HELD; renewed(); record()
  :: append[n].kind == RENEW ->
    if :: phase == DELETED -> reach(4) :: else fi;
    phase = HELD; renewed()
  :: append[n].kind == RELEASE || append[n].kind == EXPIRE || append[n].kind == LAPSE ->
    endTerm(); phase = FREE; holder = 0
  :: append[n].kind == CHOOSE -> endTerm(); phase = PENDING; holder = append[n].client + 1
#ifdef BUG_DELETE_FREES
  :: append[n].kind == DELETE -> endTerm(); phase = FREE; holder = 0
#else
  :: append[n].kind == DELETE -> phase = DELETED
#endif
  :: append[n].kind == REVOKE -> phase = REVOKED
  :: append[n].kind == TAKE_OVER -> replaceOwner()
  :: append[n].kind == TAKE_OVER_AND_GRANT -> replaceOwner(); grant()
  fi;
  /* The other replica is behind now, and whatever it or a ghost had sent for this place has lost. */
  i = 0;
  do
  :: i < 2 ->
    if
    :: i != n -> behind[i] = 1; if :: append[i].state == IN_FLIGHT -> clear(i) :: else fi
    :: else -> settle()
    fi;
    i++
  :: else -> break
  od;
  clear(2);
  i = 0; n = 0;
  check()
}

/*
 * The replica's own append was applied. It counts L from when the request had reached it. The acknowledgement may
 * take any time; if there is nobody to answer, a late acknowledgement is the same as a slow replica.
 */
inline settle() {
  if :: append[n].kind == TAKE_OVER || append[n].kind == TAKE_OVER_AND_GRANT -> isOwner[n] = 1 :: else fi;
  if
  :: RUNNING && !seen[n] -> seen[n] = 1; timer[n] = append[n].since
#ifdef BUG_OWNER_FROM_ELECTION
  :: append[n].kind == CHOOSE -> seen[n] = 1; timer[n] = 0
#endif
  :: else
  fi;
  if
  :: append[n].kind == RENEW || append[n].current ->
    append[n].state = APPLIED; append[n].since = 0; append[n].current = 0; dropUselessAppend(n)
  :: else -> clear(n)
  fi
}

active proctype Log() {
  do
  :: d_step { append[0].state == IN_FLIGHT -> n = 0; applyAppend() }
  :: d_step { append[1].state == IN_FLIGHT -> n = 1; applyAppend() }
#ifdef GHOSTS
  :: d_step { append[2].state == IN_FLIGHT -> n = 2; reach(5); applyAppend() }
#endif
  od
}

/* ---- a replica ---- */

#define READY (isOwner[o] && !behind[o] && append[o].state == IDLE)

inline send(what, who, sent, counted) {
  append[o].state = IN_FLIGHT; append[o].kind = what; append[o].client = who; append[o].age = sent;
  append[o].since = counted;
  append[o].current = attempt[who] != NOTHING &&
    (what == ACQUIRE || what == ACCEPT || what == GRANT_WAITER || what == TAKE_OVER_AND_GRANT);
#ifdef BUG_ACK_FIRST
  if :: what == ACQUIRE -> reply[who].kind = ACQUIRE; reply[who].age = sent :: else fi;
#endif
  skip
}

#ifdef DRIFT
#define REACHED(age_) 0
#else
#define REACHED(age_) age_
#endif

/* A request reaches the owner; the network may keep a copy. */
inline receive(c) {
  if
  :: request[c].kind == ACQUIRE && recorded[c] && attempt[c] != NOTHING -> answerFromRecord(c)
  :: request[c].kind == ACQUIRE && !recorded[c] && phase == FREE ->
    send(ACQUIRE, c, request[c].age, REACHED(request[c].age))
#ifdef BUG_SAME_TERM_AGAIN
  /* A new attempt of the client that the log still has as holder gets the running term, with its token. */
  :: request[c].kind == ACQUIRE && !recorded[c] && phase == HELD && holder == c + 1 ->
    send(ACCEPT, c, request[c].age, REACHED(request[c].age))
#endif
  :: request[c].kind == RENEW && (phase == HELD || phase == DELETED) && holder == c + 1 ->
    send(RENEW, c, request[c].age, REACHED(request[c].age))
  :: request[c].kind == ACCEPT && phase == PENDING && holder == c + 1 ->
    send(ACCEPT, c, request[c].age, REACHED(request[c].age))
  :: request[c].kind == ACCEPT && phase == HELD && recorded[c] && attempt[c] != NOTHING -> answerFromRecord(c)
  :: else
  fi
}

inline answerFromRecord(c) {
  reply[c].kind = ACQUIRE;
#ifdef BUG_RECORD_FROM_RESEND
  reply[c].age = request[c].age;
#else
  reply[c].age = recordedAge[c];
#endif
  if :: reply[c].age < TERM -> reach(6) :: else fi;
  dropUseless(c)
}

/* The acknowledgement of the replica's append arrives, or the replica sees it in the log (rule 3). */
inline learn() {
  from = append[o].client;
  reply[from].kind = (append[o].kind == ACCEPT -> ACQUIRE : append[o].kind);
  reply[from].age = append[o].age;
  from = 0;
  clear(o)
}

/* The replica applies the log to its end. It counts from its own sight of a renewal that it had not seen. */
inline follow() {
  behind[o] = 0;
  if
  :: RUNNING && !seen[o] ->
    seen[o] = 1;
#ifdef BUG_STORED_TIME
    /* The time that the former owner stored is compared with this replica's clock, which is ahead. */
    timer[o] = CAP
#else
    timer[o] = 0
#endif
  :: else
  fi
}

inline keepOrTake(c) {
  if
  :: request[c].kind = NOTHING; request[c].age = 0
#ifdef RETRY
  :: skip
#endif
  fi
}

proctype Replica(byte o) {
  do
  :: d_step { behind[o] && append[o].state == IDLE -> follow() }
  :: d_step { append[o].state == APPLIED -> learn() }
  :: d_step { !isOwner[o] && !behind[o] && append[o].state == IDLE -> send(TAKE_OVER, 0, 0, 0) }

  :: atomic { READY && request[0].kind != NOTHING -> d_step { receive(0) }; keepOrTake(0) }
  :: atomic { READY && request[1].kind != NOTHING -> d_step { receive(1) }; keepOrTake(1) }
  :: d_step {
#ifdef BUG_RELEASE_BY_NAME
      READY && RUNNING && holder != 0 && releasing[holder - 1] != 0 ->
#else
      READY && RUNNING && holder != 0 && releasing[holder - 1] == 2 ->
#endif
      releasing[holder - 1] = 0; send(RELEASE, 0, 0, 0)
    }
  :: d_step {
      READY && RUNNING && seen[o] && timer[o] >= WAIT_BEFORE_EXPIRY ->
      if :: o == 1 -> reach(1) :: else fi;
      send(EXPIRE, 0, 0, 0)
    }
#ifdef WAIT
  /* A re-sent wait whose grant is in the log gets the recorded outcome; else the beat is noted. */
  :: d_step {
      READY && beat != 0 ->
      if
      :: recorded[1] -> request[1].age = beat - 1; answerFromRecord(1); request[1].age = 0
      :: else -> heard = beat
      fi;
      beat = 0
    }
  /* A grant names the newest beat received; L starts at the grant. */
  :: d_step { READY && phase == FREE && heard != 0 && !recorded[1] -> send(GRANT_WAITER, 1, heard - 1, 0); heard = 0 }
#ifdef FIRST_BATCH_GRANTS
  /* The first batch of an epoch also expires the holder, if this follower has waited, and grants. */
  :: d_step {
      !isOwner[o] && !behind[o] && append[o].state == IDLE && beat != 0 && !recorded[1] &&
      (phase == FREE || (RUNNING && seen[o] && timer[o] >= WAIT_BEFORE_EXPIRY)) ->
      send(TAKE_OVER_AND_GRANT, 1, beat - 1, 0); beat = 0
    }
#endif
#endif
#ifdef ELECT
  :: d_step { READY && phase == FREE -> send(CHOOSE, 0, 0, 0) }
  :: d_step { READY && phase == FREE -> send(CHOOSE, 1, 0, 0) }
  /* The accept window ends at any moment: its length is no matter of safety. */
  :: d_step { READY && phase == PENDING -> send(LAPSE, 0, 0, 0) }
#endif
#ifdef REMOVE
  :: d_step { READY && phase == HELD -> send(DELETE, 0, 0, 0) }
  :: d_step { READY && (phase == HELD || phase == DELETED) -> send(REVOKE, 0, 0, 0) }
#endif
#ifdef GHOSTS
  /* The process ends; a new one begins with nothing in memory, while its append may still arrive. */
  :: d_step {
      isOwner[o] || append[o].state != IDLE ->
      if
      :: append[o].state == IN_FLIGHT && append[2].state == IDLE ->
        append[2].state = IN_FLIGHT; append[2].kind = append[o].kind; append[2].client = append[o].client;
        append[2].age = append[o].age; append[2].current = append[o].current
      :: else
      fi;
      clear(o); behind[o] = 1; seen[o] = 0; timer[o] = 0;
#ifdef WAIT
      if :: isOwner[o] -> heard = 0 :: else fi;
#endif
      isOwner[o] = 0
    }
#endif
  od
}

/* ---- a client ---- */

inline sendRequest(what) {
  request[c].kind = what; request[c].age = 0;
#if defined(BUG_LATEST_SEND)
  newest[c] = 0;
#endif
  skip
}

/* An answer names its attempt, so a grant to an attempt that the client has left is not for its present one. */
inline leave(x) {
  append[x].current = 0;
#ifndef BUG_LATE_ANSWER
  if :: append[x].state == APPLIED && append[x].kind != RENEW -> clear(x) :: else fi;
#endif
  skip
}

inline openAttempt(what) {
  attempt[c] = what;
#ifdef WAIT
  if :: c == 1 -> beat = 0; heard = 0 :: else fi;
#endif
  skip
}

/* The attempt has been answered, or the caller has given up: whatever comes later does not count. */
inline closeAttempt() {
  attempt[c] = NOTHING;
  i = 0;
  do
  :: i < 3 ->
    if :: append[i].state != IDLE && append[i].client == c -> leave(i) :: else fi;
    i++
  :: else -> break
  od;
  i = 0;
#ifndef BUG_LATE_ANSWER
  if :: reply[c].kind != RENEW -> reply[c].kind = NOTHING; reply[c].age = 0 :: else fi;
#endif
  if
  :: recorded[c] ->
    recorded[c] = 0; recordedAge[c] = 0;
    if
    :: request[c].kind == ACQUIRE || request[c].kind == ACCEPT -> request[c].kind = NOTHING; request[c].age = 0
    :: else
    fi;
#ifdef WAIT
    if :: c == 1 -> beat = 0; heard = 0 :: else fi;
#endif
    skip
  :: else
  fi
}

inline begin(age_) {
  if
  :: age_ < TERM ->
    remaining[c] = TERM - age_;
    if :: reply[c].kind == GRANT_WAITER -> reach(2) :: attempt[c] == ACCEPT -> reach(3) :: else fi
  :: else
  fi;
  closeAttempt()
}

inline takeReply() {
  if
  :: (reply[c].kind == ACQUIRE || reply[c].kind == GRANT_WAITER) && attempt[c] != NOTHING ->
#ifdef BUG_FROM_RESPONSE
    begin(0)
#else
#ifdef BUG_GRANT_ARRIVAL
    if :: reply[c].kind == GRANT_WAITER -> begin(0) :: else -> begin(reply[c].age) fi
#else
#ifdef BUG_NEWEST_BEAT
    if :: reply[c].kind == GRANT_WAITER -> begin(newest[c]) :: else -> begin(reply[c].age) fi
#else
    begin(reply[c].age)
#endif
#endif
#endif
  :: reply[c].kind == RENEW && remaining[c] > 0 ->
#ifdef BUG_FROM_RESPONSE
    remaining[c] = TERM
#else
#ifdef BUG_LATEST_SEND
    /* The acknowledgement is taken to be of the renewal that was sent last. */
    if :: TERM - newest[c] > remaining[c] -> remaining[c] = TERM - newest[c] :: else fi
#else
    if :: TERM - reply[c].age > remaining[c] -> remaining[c] = TERM - reply[c].age :: else fi
#endif
#endif
  :: else
  fi;
  check()
}

#ifdef WAIT
inline sendBeat() {
  beat = 1;
#ifdef BUG_NEWEST_BEAT
  newest[1] = 0;
#endif
  skip
}
#endif

proctype Client(byte c) {
  do
  /* A client never asks again while it acts. */
#ifdef WAIT
  :: d_step { c == 1 && remaining[c] == 0 && attempt[c] == NOTHING -> openAttempt(ACQUIRE); sendBeat() }
  :: d_step { c == 0 && remaining[c] == 0 && attempt[c] == NOTHING -> openAttempt(ACQUIRE); sendRequest(ACQUIRE) }
#else
  :: d_step { remaining[c] == 0 && attempt[c] == NOTHING -> openAttempt(ACQUIRE); sendRequest(ACQUIRE) }
#endif
#ifdef RETRY
#ifdef WAIT
  :: d_step { c == 0 && attempt[c] == ACQUIRE && remaining[c] == 0 -> sendRequest(ACQUIRE) }
#else
  :: d_step { attempt[c] == ACQUIRE && remaining[c] == 0 -> sendRequest(ACQUIRE) }
#endif
#endif
  :: d_step { attempt[c] != NOTHING -> closeAttempt() }
  :: d_step { remaining[c] > 0 -> sendRequest(RENEW) }
  :: d_step { remaining[c] > 0 -> remaining[c] = 0; releasing[c] = 2 }
  :: d_step { reply[c].kind != NOTHING -> takeReply(); reply[c].kind = NOTHING; reply[c].age = 0 }
#ifdef WAIT
  :: d_step { c == 1 && remaining[1] == 0 && attempt[1] == ACQUIRE -> sendBeat() }
#endif
#ifdef ELECT
  :: d_step {
      phase == PENDING && holder == c + 1 && remaining[c] == 0 && attempt[c] == NOTHING ->
      openAttempt(ACCEPT); sendRequest(ACCEPT)
    }
#ifdef RETRY
  :: d_step {
      attempt[c] == ACCEPT && remaining[c] == 0 && (phase == PENDING || phase == HELD) && holder == c + 1 ->
      sendRequest(ACCEPT)
    }
#endif
#ifdef BUG_PENDING_ACTS
  :: d_step { phase == PENDING && holder == c + 1 && remaining[c] == 0 -> remaining[c] = TERM; check() }
#endif
#endif
  od
}

init {
  atomic {
    isOwner[0] = 1;
    run Replica(0); run Replica(1); run Client(0); run Client(1)
  }
}
