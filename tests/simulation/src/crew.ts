import type { Participant } from "@tenure/core";
import type { Random } from "@tenure/kernel";
import { drawCandidacy, sameForAll } from "./actors/candidacy.ts";
import { Candidate } from "./actors/candidate.ts";
import { Coordinator } from "./actors/coordinator.ts";
import { Holder } from "./actors/holder.ts";
import { componentAt, digestOf, Migrator } from "./actors/migrator.ts";
import { Operator } from "./actors/operator.ts";
import { Reader } from "./actors/reader.ts";
import type { StoreClient } from "./actors/store-client.ts";
import { Strategist } from "./actors/strategist.ts";
import type { HolderFlaws, HolderOptions, TermListener } from "./actors/term-life.ts";
import type { Oracles } from "./oracle/oracles.ts";
import type { LeasePlan } from "./profile.ts";
import { namesOf, type Schedule } from "./schedule.ts";

/** What the crew needs of its world. */
export interface CrewOptions {
  readonly schedule: Schedule;
  readonly oracles: Oracles;
  readonly flaws: HolderFlaws;
  /** Whether nothing goes wrong any more. */
  readonly isQuiet: () => boolean;
  /** Tells every replica of the election service of live streams. */
  readonly announce: (from: string, liveness: Uint8Array) => void;
}

/** What somebody waits for, since when on the true clock. */
export interface Waiting {
  readonly leases: readonly string[];
  readonly who: string;
  readonly sinceMs: number;
}

/** Everybody who asks something of the store: holders, candidates, coordinators, operators and readers. */
export class Crew {
  readonly #options: CrewOptions;
  readonly #names: ReturnType<typeof namesOf>;
  readonly #leases: readonly LeasePlan[];
  readonly #holders = new Map<string, { readonly holder: Holder; readonly client: StoreClient }>();
  readonly #candidates = new Map<string, Candidate>();
  #migrator: Migrator | undefined;

  constructor(options: CrewOptions) {
    const { leases, profile } = options.schedule;
    this.#options = options;
    this.#names = namesOf(options.schedule);
    this.#leases = profile.leases(leases);
  }

  /** Who is started. */
  get names(): readonly string[] {
    const { candidates, coordinators, holders } = this.#names;
    const { electionChanges, isCalm, operator } = this.#options.schedule.profile;
    const names = [...holders, ...candidates, ...coordinators];
    if (!isCalm) names.push("reader");
    if (operator !== "none") names.push("operator");
    if (electionChanges > 0) names.push("strategist");
    if (this.#leasesOf("migration").length > 0) names.push("migrator");
    return names;
  }

  candidateOf(name: string): Candidate | undefined {
    return this.#candidates.get(name);
  }

  capacityOf(lease: string): number {
    return this.#leases.find(({ key }) => key === lease)?.spec.capacity ?? 0;
  }

  /** Nothing has gone wrong for a while: everything moves, the best lead, and migration locks are held. */
  expectQuiet(): void {
    const { oracles } = this.#options;
    oracles.expectProgress(this.#waits());
    if (this.#names.elections.length > 0) oracles.expectLed(this.#leasesOf("elected"));
    for (const { lock, names } of this.#locks()) {
      oracles.expectRun(
        lock,
        names.map((_, place) => this.#participant(lock, place)),
        this.#options.schedule.quietFromMs,
      );
    }
  }

  start(name: string, client: StoreClient, random: Random): void {
    const { isQuiet, oracles, schedule } = this.#options;
    const { electionChanges: mostChanges, operator } = schedule.profile;
    const keys = this.#leases.map(({ key }) => key);
    const leases = this.#leasesOf("elected");
    if (name === "reader") void new Reader(client, random, keys, readListener(oracles)).run();
    else if (name === "operator") void new Operator(client, random, keys, operator === "meddling").run();
    else if (name === "strategist") {
      void new Strategist(client, random, { leases, mostChanges, isWild: this.#isWild, isOver: isQuiet }).run();
    } else if (name === "migrator") {
      this.#migrator = new Migrator(
        client,
        random,
        this.#locks().map(({ lock }) => lock),
      );
      void this.#migrator.run(isQuiet);
    } else if (this.#names.coordinators.includes(name)) void new Coordinator(client, random, leases).run();
    else if (this.#names.candidates.includes(name)) this.#startCandidate(name, client, random);
    else {
      const holder = new Holder(this.#holderOptions(client, random));
      this.#holders.set(name, { holder, client });
      void holder.run();
    }
  }

  #startCandidate(name: string, client: StoreClient, random: Random): void {
    const { announce, isQuiet, schedule } = this.#options;
    const { elections } = schedule.profile;
    const place = this.#names.candidates.indexOf(name);
    const isWild = this.#isWild;
    const isFickle = isWild && random.next() < 0.3;
    // Each is of its own kind: the first is heard without being asked, the second may never answer, and the third does
    // not finish when it is asked to.
    const isMute = isWild && place === 1 && random.next() < 0.3;
    const isStubborn = isWild && place === 2;
    const candidate = new Candidate({
      ...this.#holderOptions(client, random),
      draw: () => (isWild ? drawCandidacy(random) : sameForAll),
      announce: elections > 0 && place === 0 ? (liveness) => announce(name, liveness) : undefined,
      isMute,
      isFickle,
      isQuiet: () => elections > 0 && isQuiet(),
      isSteady: () => elections > 0 && (!isWild || isStubborn || isQuiet()),
      isStubborn,
    });
    this.#candidates.set(name, candidate);
    void candidate.run();
  }

  #holderOptions(client: StoreClient, random: Random): HolderOptions {
    const { flaws, oracles, schedule } = this.#options;
    const { durationsMs } = schedule.profile;
    const { court, terms } = oracles;
    const listener: TermListener = {
      onBegin: (term) => oracles.onBegin(term),
      onExtend: (term, deadlineMs) => court.examine(() => terms.extend(term, deadlineMs)),
    };
    const options = { client, random, leases: this.#leases, listener, flaws, durationsMs };
    const own = this.#locks().find(({ names }) => names.includes(client.process.name));
    if (own === undefined) return options;
    const place = own.names.indexOf(client.process.name);
    const leases = this.#leases.filter(({ key }) => key === own.lock);
    return { ...options, leases, participant: () => this.#participant(own.lock, place, random) };
  }

  /** What a claimant of a migration lock says of itself; while things go wrong it may run with another configuration. */
  #participant(lock: string, place: number, random?: Random): Participant {
    const { isQuiet, oracles } = this.#options;
    const isAstray = !isQuiet() && random !== undefined && random.next() < 0.3;
    const sent = this.#migrator?.configurations ?? 0;
    return {
      ...componentAt(place),
      configurationDigest: isAstray
        ? digestOf(sent + Math.floor(random.next() * 2))
        : oracles.migrations.digestOf(lock),
    };
  }

  /** What holders wait for; candidates wait as long as they live. */
  *#waits(): Iterable<Waiting> {
    const { quietFromMs } = this.#options.schedule;
    // Whether anybody could be elected is judged there; without one who claims such a lease may wait for ever.
    const judged = new Set(this.#names.elections.length > 0 ? this.#leasesOf("elected") : []);
    for (const [who, { client, holder }] of this.#holders) {
      if (holder.waiting === undefined) continue;
      const { leases, sinceBootMs } = holder.waiting;
      if (leases.every((lease) => judged.has(lease))) continue;
      yield { who, leases, sinceMs: Math.max(client.process.trueTimeOf(sinceBootMs), quietFromMs) };
    }
    if (this.#names.coordinators.length === 0 || this.#locks().length > 0) return;
    for (const lease of this.#leasesOf("elected"))
      yield { who: "its candidates", leases: [lease], sinceMs: quietFromMs };
  }

  /** The migration locks, and who stands for each: holders race for one, candidates are elected to the other. */
  #locks(): readonly { readonly lock: string; readonly names: readonly string[] }[] {
    const { candidates, holders } = this.#names;
    const raced = this.#leasesOf("migration").map((lock) => ({ lock, names: holders }));
    if (raced.length === 0) return [];
    return [...raced, ...this.#leasesOf("elected").map((lock) => ({ lock, names: candidates }))];
  }

  /** Whether elections are upset in every way, and not only by changes that can be counted. */
  get #isWild(): boolean {
    return this.#options.schedule.profile.electionChanges === Number.POSITIVE_INFINITY;
  }

  #leasesOf(use: LeasePlan["use"]): readonly string[] {
    return this.#leases.filter((lease) => lease.use === use).map(({ key }) => key);
  }
}

function readListener(oracles: Oracles) {
  return {
    onRead: oracles.onRead.bind(oracles),
    onPlainRead: oracles.onPlainRead.bind(oracles),
    endOf: (partition: number) => oracles.logs[partition]?.lastSequence ?? 0n,
  };
}
