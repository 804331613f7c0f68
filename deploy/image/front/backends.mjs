/**
 * The gateways behind a front: which addresses the name has now, and which of them serve.
 *
 * A round looks the name up and asks each address for /readyz. New connections go to those that said 200, in turn.
 * If none did, they go to any address, because a gateway that is not ready answers with its reason.
 */
import { lookup } from "node:dns/promises";
import { get } from "node:http";

/**
 * All addresses of a name at this moment; none if it has none.
 * @param {string} host
 * @returns {Promise<readonly string[]>}
 */
async function addressesOf(host) {
  try {
    const found = await lookup(host, { all: true });
    return found.map(({ address }) => address).sort();
  } catch {
    return [];
  }
}

/**
 * Whether the gateway at this address says that it serves, within the time given.
 * @param {string} address
 * @param {number} port
 * @param {number} timeoutMs
 * @returns {Promise<boolean>}
 */
function isReady(address, port, timeoutMs) {
  return new Promise((resolve) => {
    const request = get({ host: address, port, path: "/readyz", agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.setTimeout(timeoutMs, () => request.destroy());
    request.on("error", () => resolve(false));
    request.on("close", () => resolve(false));
  });
}

/** Knows the gateways by `refresh`, which the caller repeats; `choices` never waits. */
export class Backends {
  #host;
  #readyPort;
  #timeoutMs;
  #resolve;
  /** @type {readonly string[]} */
  #known = [];
  /** @type {readonly string[]} */
  #ready = [];
  #turn = 0;

  /**
   * @param {object} options
   * @param {string} options.host the name that all gateways share
   * @param {number} options.readyPort where each answers /readyz
   * @param {number} options.timeoutMs how long one may take to answer
   * @param {(host: string) => Promise<readonly string[]>} [options.resolve] how a name becomes addresses
   */
  constructor({ host, readyPort, timeoutMs, resolve = addressesOf }) {
    this.#host = host;
    this.#readyPort = readyPort;
    this.#timeoutMs = timeoutMs;
    this.#resolve = resolve;
  }

  /** One round of lookup and questions. */
  async refresh() {
    const known = await this.#resolve(this.#host);
    const answers = await Promise.all(known.map((address) => isReady(address, this.#readyPort, this.#timeoutMs)));
    this.#known = known;
    this.#ready = known.filter((_, index) => answers[index]);
  }

  /**
   * The addresses to try for one new connection, best first; each call starts one further on.
   * @returns {readonly string[]}
   */
  choices() {
    const pool = this.#ready.length > 0 ? this.#ready : this.#known;
    if (pool.length === 0) return [];
    const start = this.#turn++ % pool.length;
    return [...pool.slice(start), ...pool.slice(0, start)];
  }
}
