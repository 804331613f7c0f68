import type { Random } from "@tenure/kernel";
import type { SimulatedProcess } from "../time/simulated-process.ts";
import type { VirtualTime } from "../time/virtual-time.ts";

/** How badly messages travel. */
export interface Weather {
  /** Chance that a message is lost. */
  readonly loss: number;
  /** Chance that it arrives twice. */
  readonly duplication: number;
  /** The longest time on the way; what is sent later may arrive earlier. */
  readonly mostDelayMs: number;
}

/** What a network does when nothing is wrong. */
export const fairWeather: Weather = { loss: 0, duplication: 0, mostDelayMs: 3 };

/** Messages between processes, by name. Sending never fails; arriving may. */
export class Network {
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #processes = new Map<string, SimulatedProcess>();
  readonly #cuts = new Map<string, number>();
  weather: Weather = fairWeather;
  /** Messages lost, doubled or cut off. */
  faults = 0;

  constructor(time: VirtualTime, random: Random) {
    this.#time = time;
    this.#random = random;
  }

  /** The process that has this name from now on. */
  join(process: SimulatedProcess): void {
    this.#processes.set(process.name, process);
  }

  /** Nothing passes from one to the other for so long. */
  cut(from: string, to: string, forMs: number): void {
    const key = `${from}>${to}`;
    this.#cuts.set(key, Math.max(this.#cuts.get(key) ?? 0, this.#time.nowMs + forMs));
  }

  /** Sends a message: `arrive` runs in the process of that name, once, twice or never. */
  send(from: string, to: string, arrive: () => void): void {
    const { duplication, loss } = this.weather;
    // Chance is asked the same number of times whatever happens, so that one fault less changes little else.
    const [isLost, isDoubled] = [this.#random.next() < loss, this.#random.next() < duplication];
    const [firstMs, secondMs] = [this.#delayMs(), this.#delayMs()];
    if (isLost || (this.#cuts.get(`${from}>${to}`) ?? 0) > this.#time.nowMs) {
      this.faults += 1;
      return;
    }
    this.#carry(from, to, firstMs, arrive);
    if (!isDoubled) return;
    this.faults += 1;
    this.#carry(from, to, firstMs + secondMs, arrive);
  }

  #carry(from: string, to: string, delayMs: number, arrive: () => void): void {
    this.#time.after(delayMs, () => {
      if ((this.#cuts.get(`${from}>${to}`) ?? 0) > this.#time.nowMs) this.faults += 1;
      else this.#processes.get(to)?.deliver(arrive);
    });
  }

  #delayMs(): number {
    return this.#random.next() * this.weather.mostDelayMs;
  }
}
