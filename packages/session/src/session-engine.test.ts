import {
  CandidateServiceAckRequest,
  CandidateServiceAckResponse,
  decodeRenewals,
  encodeRenewals,
  faultFromFailure,
  LeaseServiceGetRequest,
  type SessionPush,
  SessionServiceSessionRequest,
  type SessionServiceSessionResponse,
  StoreServiceRenewRequest,
  StoreServiceRenewResponse,
} from "@tenure/contracts";
import { FakeClock, Fault, seededRandom } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import type { Outcome } from "./open-call.ts";
import { RenewalCoalescer } from "./renewal-coalescer.ts";
import type { CallPort } from "./service-calls.ts";
import { SessionEngine } from "./session-engine.ts";
import { defaultSessionLimits, type SessionLimits } from "./session-limits.ts";
import { OwnerDesk } from "./testing/owner-desk.ts";
import { WaitBeats } from "./wait-beats.ts";

const methods: Readonly<Record<string, "unary" | "stream">> = {
  "LeaseService.Get": "unary",
  "CandidateService.Ack": "unary",
  "CandidateService.Register": "unary",
  "LeaseService.Watch": "stream",
};

interface Begun {
  readonly method: string;
  readonly request: Uint8Array;
  readonly options: { readonly principal: string; readonly deadlineMs: number };
  isCancelled: boolean;
  done(outcome: Outcome): void;
}

const denied = new Fault({ code: "PERMISSION_DENIED", reason: "NOT_ALLOWED", message: "no" });

function setUp(limits: Partial<SessionLimits> = {}, items: Uint8Array[] = []) {
  const clock = new FakeClock();
  const begun: Begun[] = [];
  const deniedMethods = new Set<string>();
  const calls: CallPort = {
    kindOf: (method) => methods[method],
    start(method, request, options, done) {
      if (deniedMethods.has(method)) throw denied;
      const call: Begun = { method, request, options, done, isCancelled: false };
      begun.push(call);
      return {
        cancel() {
          call.isCancelled = true;
        },
      };
    },
    async *stream() {
      yield* items;
    },
  };
  const desk = new OwnerDesk();
  const listeners = new Map<string, (push: SessionPush) => void>();
  const engine = new SessionEngine({
    calls,
    renewals: new RenewalCoalescer(desk),
    beats: new WaitBeats(desk, clock),
    news: {
      follow(lease, listener) {
        listeners.set(lease, listener);
        return () => void listeners.delete(lease);
      },
      termOf: (_, holdId) => (holdId === 7 ? { lease: "n/x", token: 41n, principal: "ann" } : undefined),
    },
    clock,
    random: seededRandom(1),
    limits: { ...defaultSessionLimits, ...limits },
    instance: "i",
    version: "v",
    heartbeatMs: 1_000,
    pingAnswerMs: 1_000,
  });
  return { clock, begun, deniedMethods, desk, engine, listeners, open: () => new Peer(engine) };
}

/** A client whose messages a test writes. */
class Peer {
  readonly messages: SessionServiceSessionResponse[] = [];
  readonly ended: { readonly fault: Fault | undefined }[] = [];
  readonly session;
  isFull = false;
  #sendNumber = 0n;

  constructor(engine: SessionEngine) {
    this.session = engine.open({
      principal: "ann",
      send: (message) => {
        this.messages.push(message);
        return !this.isFull;
      },
      end: (fault) => void this.ended.push({ fault }),
    });
  }

  async send(message: Parameters<typeof SessionServiceSessionRequest.fromPartial>[0]): Promise<void> {
    this.#sendNumber += 1n;
    const full = SessionServiceSessionRequest.fromPartial({ sendNumber: this.#sendNumber, ...message });
    this.session.receive(full);
    await settled();
  }

  get replies() {
    return this.messages.flatMap(({ replies }) => replies);
  }
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
const hello = { hello: { clientId: "c" } };
/** A read whose bytes are those of a field that no request has, so that the calls of a test differ. */
const get = (number: bigint) => ({
  number,
  method: "LeaseService.Get",
  request: Uint8Array.of(0x78, Number(number & 0x7fn)),
});

describe("a session", () => {
  it("welcomes a client and tells its limits", async () => {
    const peer = setUp({ openCalls: 5 }).open();
    await peer.send(hello);
    expect(peer.messages[0]?.welcome).toMatchObject({ instance: "i", principal: "ann", maxOpenCalls: 5 });
    expect(peer.messages[0]?.receivedNumber).toBe(0n);
  });

  it("begins the calls of a message with the session's principal, and answers those that end together in one message", async () => {
    const { begun, open } = setUp();
    const peer = open();
    await peer.send({ ...hello, calls: [get(1n), get(2n), get(3n)] });
    expect(begun.map(({ method, options, request }) => [method, options.principal, request[1]])).toEqual([
      ["LeaseService.Get", "ann", 1],
      ["LeaseService.Get", "ann", 2],
      ["LeaseService.Get", "ann", 3],
    ]);
    begun[2]?.done(Uint8Array.of(30));
    begun[0]?.done(new Fault({ code: "NOT_FOUND", reason: "LEASE_NOT_FOUND", message: "no" }));
    await settled();
    expect(peer.messages).toHaveLength(2);
    expect(peer.replies[0]).toEqual({
      number: 3n,
      outcome: { $case: "response", value: Uint8Array.of(30) },
      end: true,
      also: [],
    });
    const failure = peer.replies[1]?.outcome;
    expect(failure?.$case === "failure" && faultFromFailure(failure.value)).toMatchObject({
      reason: "LEASE_NOT_FOUND",
    });
    expect(peer.messages[1]?.receivedNumber).toBe(1n);
  });

  it("says nothing of a call that was cancelled, and gives up all of them when it closes", async () => {
    const { begun, engine, open } = setUp();
    const peer = open();
    await peer.send({ ...hello, calls: [get(1n), get(2n)] });
    await peer.send({ cancels: [1n, 99n] });
    begun[0]?.done(Uint8Array.of(1));
    await settled();
    expect([peer.replies, begun[0]?.isCancelled, begun[1]?.isCancelled]).toEqual([[], true, false]);
    peer.session.close();
    expect([begun[1]?.isCancelled, engine.sessions]).toEqual([true, 0]);
  });

  it("refuses what is beyond its limits, each by its name", async () => {
    const { clock, open } = setUp({ openCalls: 2, callsPerSecond: 3 });
    const peer = open();
    await peer.send({ ...hello, calls: [get(1n), get(2n), get(3n)] });
    await peer.send({ cancels: [1n] });
    await peer.send({ calls: [get(4n)] });
    await peer.send({ cancels: [2n] });
    await peer.send({ calls: [get(5n)] });
    await clock.advance(1_000);
    await peer.send({ calls: [get(6n)] });
    const names = peer.replies.map(({ number, outcome }) => [
      number,
      outcome?.$case === "failure" && outcome.value.detail?.limit?.name,
    ]);
    expect(names).toEqual([
      [3n, "open-calls-per-session"],
      [5n, "requests-per-second"],
    ]);
  });

  it("pulls a stream only while there is credit, and ends it with a reply of its own", async () => {
    const items = [1, 2, 3].map((value) => Uint8Array.of(value));
    const peer = setUp({}, items).open();
    await peer.send({ ...hello, calls: [{ number: 1n, method: "LeaseService.Watch", credit: 2 }] });
    expect(peer.replies.map(({ end }) => end)).toEqual([false, false]);
    await peer.send({ credits: [{ number: 1n, responses: 5 }] });
    expect(peer.replies.map(({ end, outcome }) => [end, outcome?.$case])).toEqual([
      [false, "response"],
      [false, "response"],
      [false, "response"],
      [true, undefined],
    ]);
  });

  it("passes packed renewals on and tells the owner's acknowledgement", async () => {
    const { desk, open } = setUp();
    const peer = open();
    const renewals = encodeRenewals([{ partition: 1, sendNumber: 1, holdIds: [4, 9] }]);
    await peer.send({ hello: { clientId: "c", renewKey: Uint8Array.of(1) }, renewals });
    const [source] = StoreServiceRenewRequest.decode(desk.calls[0]?.request ?? new Uint8Array(0)).sources;
    expect(source).toMatchObject({ principal: "ann", renewals });
    expect(source?.renewKeyHash).toHaveLength(32);
    expect(peer.messages).toHaveLength(1);
    const results = [{ acks: renewals, refusals: [], endings: [] }];
    desk.calls[0]?.answer(StoreServiceRenewResponse.encode({ results, renewalRevision: 3n }).finish());
    await settled();
    expect(decodeRenewals(peer.messages[1]?.renewalAcks ?? new Uint8Array(0))).toEqual(decodeRenewals(renewals));
  });

  it("goes on when a call or an answer to a ping is one that its client may not make", async () => {
    const { begun, deniedMethods, open } = setUp();
    const peer = open();
    deniedMethods.add("CandidateService.Ack").add("CandidateService.Register");
    const candidate = { lease: { namespace: "n", name: "y" }, name: "me" };
    const register = { number: 1n, method: "CandidateService.Register" };
    await peer.send({ ...hello, calls: [register, get(2n)], answers: [{ candidate, pingNumber: 2n }] });
    expect(begun.map(({ method }) => method)).toEqual(["LeaseService.Get"]);
    expect(peer.replies).toMatchObject([{ number: 1n, outcome: { value: { detail: { reasonName: "NOT_ALLOWED" } } } }]);
    expect(peer.ended).toEqual([]);
  });

  it("hears of the terms that it renews and of the candidates that it answers for, and of nothing else", async () => {
    const { begun, listeners, open } = setUp();
    const peer = open();
    const renewals = encodeRenewals([{ partition: 1, sendNumber: 1, holdIds: [7, 8] }]);
    const candidate = { lease: { namespace: "n", name: "y" }, name: "me" };
    await peer.send({ ...hello, renewals, answers: [{ candidate, pingNumber: 2n }] });
    expect(CandidateServiceAckRequest.decode(begun[0]?.request ?? new Uint8Array(0)).answers).toEqual([
      { candidate, pingNumber: 2n },
    ]);
    expect([...listeners.keys()]).toEqual(["n/x"]);
    begun[0]?.done(CandidateServiceAckResponse.encode({ renewalRevisions: [5n] }).finish());
    expect([...listeners.keys()].toSorted()).toEqual(["n/x", "n/y"]);
    const ended = (token: bigint): SessionPush => ({
      push: { $case: "termEnded", value: { lease: undefined, token, endReason: 1, note: "" } },
    });
    const ping = (name: string): SessionPush => ({
      push: { $case: "ping", value: { candidate: { ...candidate, name }, ping: undefined } },
    });
    listeners.get("n/x")?.(ended(40n));
    listeners.get("n/y")?.(ping("other"));
    listeners.get("n/y")?.(ping("me"));
    listeners.get("n/x")?.(ended(41n));
    await settled();
    expect(peer.messages.flatMap(({ pushes }) => pushes)).toEqual([ping("me"), ended(41n)]);
    expect([...listeners.keys()]).toEqual(["n/y"]);
    peer.session.close();
    expect(listeners.size).toBe(0);
  });

  it("answers a request whose candidate cannot be read, and goes on", async () => {
    const { begun, open } = setUp();
    const peer = open();
    // A candidate whose name runs past its end, and then one that the store takes.
    const request = Uint8Array.of(0x12, 0x02, 0x12, 0x05, 0x12, 0x03, 0x12, 0x01, 0x61);
    await peer.send({ ...hello, calls: [{ number: 1n, method: "CandidateService.Register", request }] });
    expect(() => begun[0]?.done(Uint8Array.of(1))).not.toThrow();
    await settled();
    expect([peer.replies.length, peer.ended]).toEqual([1, []]);
  });

  it("hears nothing of a candidate that the store does not know as its own", async () => {
    const { begun, listeners, open } = setUp();
    const peer = open();
    const candidate = { lease: { namespace: "n", name: "y" }, name: "another's" };
    const answers = [{ candidate, pingNumber: 2n }];
    await peer.send({ ...hello, answers });
    begun[0]?.done(new Fault({ code: "PERMISSION_DENIED", reason: "NOT_YOURS", message: "no" }));
    await peer.send({ answers });
    begun[1]?.done(CandidateServiceAckResponse.encode({ renewalRevisions: [0n] }).finish());
    await peer.send({ answers });
    peer.session.close();
    begun[2]?.done(CandidateServiceAckResponse.encode({ renewalRevisions: [5n] }).finish());
    expect([...listeners.keys()]).toEqual([]);
  });

  it("follows a bounded number of candidates", async () => {
    const { begun, listeners, open } = setUp();
    const peer = open();
    await peer.send(hello);
    const renewalRevisions = Array.from({ length: 1_000 }, () => 5n);
    for (let part = 0; part < 11; part += 1) {
      const answers = renewalRevisions.map((_, at) => ({
        candidate: { lease: { namespace: "n", name: `l${part}.${at}` }, name: "me" },
        pingNumber: 1n,
      }));
      await peer.send({ answers });
      begun[part]?.done(CandidateServiceAckResponse.encode({ renewalRevisions }).finish());
    }
    expect(listeners.size).toBe(10_000);
  });

  it("is told no more of its candidates once its client closes, and of its terms until the end", async () => {
    const { begun, listeners, open } = setUp();
    const peer = open();
    const renewals = encodeRenewals([{ partition: 1, sendNumber: 1, holdIds: [7] }]);
    const answers = [{ candidate: { lease: { namespace: "n", name: "y" }, name: "me" }, pingNumber: 2n }];
    const acked = CandidateServiceAckResponse.encode({ renewalRevisions: [5n] }).finish();
    await peer.send({ ...hello, renewals, answers });
    begun[0]?.done(acked);
    expect([...listeners.keys()].toSorted()).toEqual(["n/x", "n/y"]);
    await peer.send({ answers, closing: true });
    begun[1]?.done(acked);
    expect([...listeners.keys()]).toEqual(["n/x"]);
    await peer.send({ calls: [get(1n)] });
    expect(peer.replies.map(({ outcome }) => outcome?.$case)).toEqual(["failure"]);
  });

  it("counts renewals and ping answers against the client's rate", async () => {
    const { begun, clock, desk, open } = setUp({ callsPerSecond: 2 });
    const peer = open();
    const renewals = encodeRenewals([{ partition: 1, sendNumber: 1, holdIds: [7] }]);
    const answers = [1n, 2n, 3n].map((pingNumber) => ({
      candidate: { lease: { namespace: "n", name: "y" }, name: "me" },
      pingNumber,
    }));
    await peer.send({ ...hello, answers });
    expect(CandidateServiceAckRequest.decode(begun[0]?.request ?? new Uint8Array(0)).answers).toHaveLength(2);
    await peer.send({ renewals });
    expect(desk.calls).toEqual([]);
    const refusals = peer.messages.flatMap((message) => message.refusals);
    expect(refusals.map(({ failure, holdId }) => [holdId, failure?.detail?.limit?.name])).toEqual([
      [7n, "requests-per-second"],
    ]);
    await clock.advance(1_000);
    await peer.send({ renewals });
    expect(desk.calls).toHaveLength(1);
  });

  it("reads nothing older than what the client has seen", async () => {
    const { begun, open } = setUp();
    const peer = open();
    await peer.send({ hello: { clientId: "c", minRevision: 42n }, calls: [get(1n)] });
    expect(LeaseServiceGetRequest.decode(begun[0]?.request ?? new Uint8Array(0)).read?.minRevision).toBe(42n);
  });

  it("tells of a mark that a renewal shows, whatever the news have told", async () => {
    const { desk, open } = setUp();
    const peer = open();
    const renewals = encodeRenewals([{ partition: 1, sendNumber: 1, holdIds: [7] }]);
    await peer.send({ ...hello, renewals });
    const results = [{ acks: renewals, refusals: [], endings: [{ holdId: 7n, successor: "next" }] }];
    desk.calls[0]?.answer(StoreServiceRenewResponse.encode({ results, renewalRevision: 3n }).finish());
    await settled();
    const [told] = peer.messages.flatMap(({ pushes }) => pushes);
    expect(told?.push).toMatchObject({
      $case: "endOfTerm",
      value: { lease: { namespace: "n", name: "x" }, endOfTerm: { token: 41n, preferredHolder: "next" } },
    });
  });

  it("keeps what it has to say while the transport is full, and cuts off a client that never reads", async () => {
    const { begun, open } = setUp({ queuedBytes: 1_000 });
    const peer = open();
    peer.isFull = true;
    await peer.send({ ...hello, calls: [get(1n), get(2n)] });
    begun[0]?.done(new Uint8Array(600));
    await settled();
    expect(peer.replies).toEqual([]);
    peer.isFull = false;
    peer.session.onDrain();
    expect(peer.replies).toHaveLength(1);
    peer.isFull = true;
    begun[1]?.done(new Uint8Array(10));
    await settled();
    await peer.send({ calls: [get(3n)] });
    begun[2]?.done(new Uint8Array(2_000));
    await settled();
    expect(peer.ended[0]?.fault?.details.limit?.name).toBe("queued-bytes-per-session");
  });

  it("shows that it lives when it has nothing to say, and ends when its client is silent", async () => {
    const { clock, open } = setUp();
    const peer = open();
    await peer.send(hello);
    await clock.advance(1_000);
    expect(peer.messages.length).toBe(2);
    await clock.advance(16_500);
    expect(peer.ended).toEqual([]);
    await clock.advance(1_000);
    expect(peer.ended[0]?.fault).toMatchObject({ code: "UNAVAILABLE", reason: "STREAM_SILENT" });
    await clock.advance(10_000);
    expect(clock.pendingTimers).toBe(0);
  });

  it("ends when its client does not greet within 10 s", async () => {
    const { clock, open } = setUp();
    const peer = open();
    await clock.advance(10_000);
    expect(peer.ended).toEqual([]);
    await clock.advance(1_000);
    expect(peer.ended[0]?.fault?.reason).toBe("STREAM_SILENT");
    expect(peer.messages).toEqual([]);
  });

  it("looks after its sessions after the goodbye as before", async () => {
    const { clock, engine, open } = setUp();
    const peer = open();
    await peer.send(hello);
    engine.sayGoodbye("it stops");
    const said = peer.messages.length;
    await clock.advance(1_500);
    expect(peer.messages.length).toBeGreaterThan(said);
    await clock.advance(30_000);
    expect(peer.ended[0]?.fault?.reason).toBe("STREAM_SILENT");
    expect(clock.pendingTimers).toBe(0);
  });

  it("says goodbye, refuses new calls and sessions, and answers the open ones", async () => {
    const { begun, engine, open } = setUp();
    const peer = open();
    await peer.send({ ...hello, calls: [get(1n)] });
    engine.sayGoodbye("it stops");
    await peer.send({ calls: [get(2n)] });
    begun[0]?.done(Uint8Array.of(1));
    await settled();
    expect(peer.messages.find(({ goodbye }) => goodbye !== undefined)?.goodbye?.reason).toBe("it stops");
    const outcomes = peer.replies.map(({ number, outcome }) => [number, outcome?.$case]);
    expect(outcomes).toEqual([
      [2n, "failure"],
      [1n, "response"],
    ]);
    expect(open().ended[0]?.fault?.reason).toBe("SERVER_STOPPING");
    await engine[Symbol.asyncDispose]();
    expect(peer.ended[0]?.fault?.reason).toBe("SERVER_STOPPING");
  });

  it.each([
    ["no greeting", { calls: [get(1n)] }],
    ["a name that is none", { hello: { clientId: "not a name" } }],
    ["a beat that is too fast", { hello: { clientId: "c", beatInterval: { seconds: 0n, nanos: 1_000 } } }],
    ["the number 0", { ...hello, sendNumber: 0n }],
    ["call numbers that do not grow", { ...hello, calls: [get(2n), get(2n)] }],
    ["a call number beyond 2^53 - 1", { ...hello, calls: [get(2n ** 53n)] }],
    ["too many calls", { ...hello, calls: Array.from({ length: 1_001 }, (_, at) => get(BigInt(at + 1))) }],
    ["renewals that are none", { ...hello, renewals: Uint8Array.of(9) }],
  ])("ends with INVALID_ARGUMENT for %s", async (_, message) => {
    const { engine, open } = setUp();
    const peer = open();
    await peer.send(message);
    expect(peer.ended[0]?.fault?.code).toBe("INVALID_ARGUMENT");
    expect(engine.sessions).toBe(0);
  });
});
