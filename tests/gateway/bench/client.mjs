import {
  encodeRenewals,
  LeaseServiceAcquireRequest,
  LeaseServiceAcquireResponse,
  LeaseServiceReleaseRequest,
  SessionServiceSessionRequest,
} from "@tenure/contracts";

/** A client that drives one session as fast as it answers: all calls of one turn of the event loop in one message. */
export class BenchClient {
  #transport;
  #waiting = new Map();
  #calls = [];
  #sendNumber = 0n;
  #callNumber = 0n;
  #attempt = 0n;
  #isScheduled = false;
  acked = 0;
  onAcks = () => {};

  /** `open` takes what is told of each message and gives what sends one. */
  constructor(clientId, open) {
    this.clientId = clientId;
    this.#transport = open((message) => this.#receive(message));
    this.send({ hello: { clientId } });
  }

  send(parts) {
    this.#sendNumber += 1n;
    this.#transport.send(SessionServiceSessionRequest.fromPartial({ ...parts, sendNumber: this.#sendNumber }));
    return this.#sendNumber;
  }

  /** Calls with an encoded request and gives the encoded response. */
  call(method, request) {
    return new Promise((resolve, reject) => {
      this.#callNumber += 1n;
      this.#waiting.set(this.#callNumber, { resolve, reject });
      this.#calls.push({ number: this.#callNumber, method, request });
      if (this.#isScheduled) return;
      this.#isScheduled = true;
      setImmediate(() => {
        this.#isScheduled = false;
        for (const calls = this.#calls.splice(0); calls.length > 0; ) this.send({ calls: calls.splice(0, 1_000) });
      });
    });
  }

  async acquire(name) {
    this.#attempt += 1n;
    const request = LeaseServiceAcquireRequest.fromPartial({
      attempt: { clientId: `${this.clientId}-${name}`, number: this.#attempt, settledBelow: this.#attempt },
      claims: [{ lease: { namespace: "bench", name } }],
      claimant: { holder: this.clientId },
    });
    const bytes = await this.call("LeaseService.Acquire", LeaseServiceAcquireRequest.encode(request).finish());
    return LeaseServiceAcquireResponse.decode(bytes).grants[0].hold;
  }

  async release(name, token) {
    this.#attempt += 1n;
    const request = LeaseServiceReleaseRequest.fromPartial({
      attempt: { clientId: `${this.clientId}-${name}`, number: this.#attempt, settledBelow: this.#attempt },
      items: [{ lease: { namespace: "bench", name }, token }],
    });
    await this.call("LeaseService.Release", LeaseServiceReleaseRequest.encode(request).finish());
  }

  #receive({ renewalAcks, replies, refusals }) {
    for (const { number, outcome } of replies) {
      const waiting = this.#waiting.get(number);
      this.#waiting.delete(number);
      if (outcome?.$case === "response") waiting?.resolve(outcome.value);
      else waiting?.reject(new Error(JSON.stringify(outcome?.value?.message)));
    }
    if (refusals.length > 0)
      throw new Error(`${refusals.length} renewals were refused: ${refusals[0].failure?.message}`);
    if (renewalAcks.length > 0) this.onAcks(renewalAcks);
  }
}

const print = (name, result) => process.stdout.write(`${name.padEnd(44)} ${result}\n`);
const shown = (value) => Math.round(value).toLocaleString("en");

/** Pairs of acquire and release on `lanes` leases at once, for some seconds. */
export async function measurePairs(client, lanes, seconds) {
  const endMs = performance.now() + seconds * 1000;
  const startMs = performance.now();
  const took = [];
  let pairs = 0;
  const lane = async (_, index) => {
    while (performance.now() < endMs) {
      const fromMs = performance.now();
      const { token } = await client.acquire(`pair-${index}`);
      await client.release(`pair-${index}`, token);
      pairs += 1;
      if (pairs % 8 === 0) took.push(performance.now() - fromMs);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  took.sort((left, right) => left - right);
  const at = (share) => (took[Math.floor(took.length * share)] ?? 0).toFixed(1);
  const rate = pairs / ((performance.now() - startMs) / 1000);
  print(`acquire + release, ${lanes} at once`, `${shown(rate)} pairs/s  p50 ${at(0.5)} ms  p99 ${at(0.99)} ms`);
}

/** Renewals of `count` holds, each round sent when the one before is acknowledged. */
export async function measureRenewals(client, count, seconds) {
  const holds = [];
  for (let start = 0; start < count; start += 500) {
    const names = Array.from(
      { length: Math.min(500, count - start) },
      (_, index) => `${client.clientId}-hold-${start + index}`,
    );
    holds.push(...(await Promise.all(names.map((name) => client.acquire(name)))));
  }
  const byPartition = new Map();
  for (const { holdId, partition } of holds) {
    byPartition.set(partition, [...(byPartition.get(partition) ?? []), Number(holdId)]);
  }
  for (const holdIds of byPartition.values()) holdIds.sort((left, right) => left - right);
  const endMs = performance.now() + seconds * 1000;
  const startMs = performance.now();
  let rounds = 0;
  while (performance.now() < endMs) {
    let missing = byPartition.size;
    const acked = new Promise((resolve) => {
      // Each partition of this client is acknowledged as a whole.
      client.onAcks = (packed) => {
        missing -= packedGroupCount(packed);
        if (missing === 0) resolve();
      };
    });
    const sendNumber = rounds + 1;
    client.send({
      renewals: encodeRenewals([...byPartition].map(([partition, holdIds]) => ({ partition, sendNumber, holdIds }))),
    });
    await acked;
    rounds += 1;
  }
  print(
    `renewals of ${shown(count)} holds`,
    `${shown((rounds * count) / ((performance.now() - startMs) / 1000))} renewals/s`,
  );
}

/** The groups of packed renewals, counted without unpacking the holds. */
function packedGroupCount(bytes) {
  let offset = 1;
  const number = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[offset++];
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  };
  let groups = 0;
  while (offset < bytes.length) {
    number();
    number();
    for (let left = number(); left > 0; left -= 1) while (bytes[offset++] >= 0x80);
    groups += 1;
  }
  return groups;
}
