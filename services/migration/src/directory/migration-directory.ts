import {
  type Concerns,
  type LeaseKey,
  type LeaseRecord,
  nameOf,
  namespaceOf,
  type PartitionState,
  partitionOf,
} from "@tenure/core";
import type { Clock } from "@tenure/kernel";
import {
  type Alarm,
  alarmKey,
  alarmsOf,
  controllerLeaseOf,
  controllersOf,
  doubleRunOf,
  type MigrationView,
  namespaceOfParticipant,
  periodsOf,
} from "@tenure/migration-rules";
import type { ChangeListener, ChangeSet, WatchHub } from "@tenure/reader";
import { type StoredConfiguration, storedConfiguration } from "../record/configuration-record.ts";
import { isParticipantLease, type StoredParticipant, storedParticipant } from "../record/participant-record.ts";

/** Where the directory reads. */
export interface DirectorySource {
  readonly clock: Clock;
  readonly partitions: number;
  readonly hub: WatchHub;
  stateOf(partition: number): PartitionState;
}

/** What is known of a namespace. */
export interface NamespaceState {
  readonly view: MigrationView;
  readonly configurations: readonly StoredConfiguration[];
  readonly participants: readonly StoredParticipant[];
  readonly alarms: readonly Alarm[];
  /** The locks that participants name: who holds one may change what others may do. */
  readonly locks: ReadonlySet<LeaseKey>;
}

/** Told of a namespace in which something changed, and of alarms that began and ended. */
export interface DirectoryListener {
  onChanged(namespace: string): void;
  onAlarm?(namespace: string, alarm: Alarm, hasEnded: boolean): void;
}

/** Configurations, participants and alarms by namespace, from the log alone, so that every replica knows the same. */
export class MigrationDirectory implements ChangeListener, Disposable {
  readonly #source: DirectorySource;
  readonly #locks = new Set<LeaseKey>();
  readonly #participants = new Map<LeaseKey, StoredParticipant>();
  /** Leases of participants that have fallen silent. */
  readonly #vacated = new Set<LeaseKey>();
  readonly #states = new Map<string, NamespaceState>();
  readonly #alarmedSinceMs = new Map<string, number>();
  readonly #listeners = new Set<DirectoryListener>();
  readonly #unfollow: () => void;
  #changedRevision = 0n;

  constructor(source: DirectorySource) {
    this.#source = source;
    const concerns: Concerns = ({ kind, lease }, record) =>
      kind === "migrationChanged" || record?.migration !== undefined || this.#isOfInterest(lease);
    this.#unfollow = source.hub.follow(this, { concerns, wantsRenewals: false });
    this.onGap();
  }

  /** Tells of every later change; returns what ends that. */
  follow(listener: DirectoryListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Every namespace in which there is something, in order. */
  get namespaces(): readonly string[] {
    return [...this.#states.keys()].sort();
  }

  /** The log position of the last change of a configuration. */
  get configurationsRevision(): bigint {
    return this.#changedRevision;
  }

  /** Leases of participants that have fallen silent, to be removed. */
  get vacated(): readonly LeaseRecord[] {
    return [...this.#vacated].flatMap((key) => this.recordOf(key) ?? []);
  }

  /** What is known of a namespace now. */
  stateOf(namespace: string): NamespaceState {
    return this.#states.get(namespace) ?? this.#read(namespace);
  }

  /** The participant of a lease, as this replica knows it. */
  participantOf(key: LeaseKey): StoredParticipant | undefined {
    return this.#participants.get(key);
  }

  /** Since when an alarm is there, by this replica's wall clock. */
  alarmedSinceMs(namespace: string, alarm: Alarm): number | undefined {
    return this.#alarmedSinceMs.get(`${namespace}/${alarmKey(alarm)}`);
  }

  /** What the log keeps under a name. */
  recordOf(key: LeaseKey): LeaseRecord | undefined {
    return this.#source.stateOf(partitionOf(key, this.#source.partitions)).leases.get(key);
  }

  onChanges({ leases, sequence }: ChangeSet): void {
    const changed = new Set<string>();
    for (const { key } of leases) for (const namespace of this.#update(key, sequence)) changed.add(namespace);
    for (const namespace of changed) this.#refresh(namespace);
  }

  /** Changes were missed: everything is read again. */
  onGap(): void {
    const keys = new Set<LeaseKey>([...this.#locks, ...this.#participants.keys(), ...this.#vacated]);
    for (let partition = 0; partition < this.#source.partitions; partition += 1) {
      for (const [key, { migration }] of this.#source.stateOf(partition).leases) {
        if (migration !== undefined || isParticipantLease(key)) keys.add(key);
      }
    }
    const changed = new Set([...this.#states.keys(), ...[...keys].flatMap((key) => this.#update(key, 0n))]);
    // Whatever was missed may have changed one.
    this.#changedRevision = this.#source.hub.revision;
    for (const namespace of changed) this.#refresh(namespace);
  }

  [Symbol.dispose](): void {
    this.#unfollow();
    this.#listeners.clear();
  }

  /** Whether a lease has to do with migrations, whatever its record says. */
  #isOfInterest(key: LeaseKey): boolean {
    if (isParticipantLease(key) || nameOf(key).startsWith("controller:") || this.#locks.has(key)) return true;
    return this.#states.get(namespaceOf(key))?.locks.has(key) ?? false;
  }

  /** Takes a record in; the namespaces that it concerns. */
  #update(key: LeaseKey, sequence: bigint): readonly string[] {
    const record = this.recordOf(key);
    if (isParticipantLease(key)) return this.#updateParticipant(key, record);
    const isOfInterest = this.#isOfInterest(key);
    const wasLock = this.#locks.has(key);
    const isLock = record?.migration !== undefined;
    if (isLock) this.#locks.add(key);
    else this.#locks.delete(key);
    const isChanged = (isLock && record.migration?.revision.sequence === sequence) || isLock !== wasLock;
    // Partitions are read in any order.
    if (isChanged && sequence > this.#changedRevision) this.#changedRevision = sequence;
    return isLock || isOfInterest ? [namespaceOf(key)] : [];
  }

  #updateParticipant(key: LeaseKey, record: LeaseRecord | undefined): readonly string[] {
    const before = this.#participants.get(key);
    const after = record && storedParticipant(record);
    if (after === undefined) this.#participants.delete(key);
    else this.#participants.set(key, after);
    const isVacated = after === undefined && record?.created !== undefined && record.deletion === undefined;
    if (isVacated) this.#vacated.add(key);
    else this.#vacated.delete(key);
    return [before, after].flatMap((one) => (one === undefined ? [] : [namespaceOfParticipant(one.participant)]));
  }

  #refresh(namespace: string): void {
    const before = this.#states.get(namespace)?.alarms ?? [];
    const state = this.#read(namespace);
    if (state.configurations.length + state.participants.length > 0) this.#states.set(namespace, state);
    else this.#states.delete(namespace);
    const keyOf = (alarm: Alarm) => `${namespace}/${alarmKey(alarm)}`;
    const keys = new Set(state.alarms.map(keyOf));
    for (const alarm of before) {
      if (keys.has(keyOf(alarm))) continue;
      this.#alarmedSinceMs.delete(keyOf(alarm));
      for (const listener of this.#listeners) listener.onAlarm?.(namespace, alarm, true);
    }
    for (const alarm of state.alarms) {
      if (this.#alarmedSinceMs.has(keyOf(alarm))) continue;
      this.#alarmedSinceMs.set(keyOf(alarm), this.#source.clock.wall());
      for (const listener of this.#listeners) listener.onAlarm?.(namespace, alarm, false);
    }
    for (const listener of [...this.#listeners]) listener.onChanged(namespace);
  }

  #read(namespace: string): NamespaceState {
    const configurations = [...this.#locks]
      .filter((key) => namespaceOf(key) === namespace)
      .flatMap((key) => {
        const record = this.recordOf(key);
        return (record && storedConfiguration(record)) ?? [];
      })
      .sort((left, right) => (left.inForce.revision < right.inForce.revision ? -1 : 1));
    const participants = [...this.#participants.values()]
      .filter(({ participant }) => namespaceOfParticipant(participant) === namespace)
      .sort((left, right) => (left.participant.instance < right.participant.instance ? -1 : 1));
    const inForce = configurations.map(({ inForce }) => inForce);
    const known = participants.map(({ participant }) => participant);
    const locks = locksOf(known);
    const view = { namespace, inForce, participants: known, ...this.#holdings(namespace, inForce, known) };
    return { view, configurations, participants, alarms: [...this.#doubleRuns(view), ...alarmsOf(view)], locks };
  }

  /** Recorded periods that overlap: what must never be. */
  #doubleRuns(view: MigrationView): readonly Alarm[] {
    return controllersOf(view).flatMap((controller) => {
      const history = this.recordOf(controllerLeaseOf(controller, view.namespace))?.history ?? [];
      return doubleRunOf(view, controller, periodsOf(history)) ?? [];
    });
  }

  /** Who holds the controllers' own leases, and which participants hold the locks that they name. */
  #holdings(
    namespace: string,
    inForce: MigrationView["inForce"],
    participants: MigrationView["participants"],
  ): Pick<MigrationView, "holders" | "runners"> {
    const holderOf = (key: LeaseKey) => this.recordOf(key)?.holds[0]?.holder;
    const runners = new Map<string, string>();
    for (const controller of controllersOf({ inForce, participants })) {
      const holder = holderOf(controllerLeaseOf(controller, namespace));
      if (holder !== undefined) runners.set(controller, holder);
    }
    const holders = new Map<LeaseKey, string>();
    for (const participant of participants) {
      for (const lock of locksOf([participant])) {
        if (holderOf(lock) === participant.instance) holders.set(lock, participant.instance);
      }
    }
    return { runners, holders };
  }
}

/** The locks that participants name: their primary ones, and those of their controllers. */
function locksOf(participants: MigrationView["participants"]): ReadonlySet<LeaseKey> {
  return new Set(
    participants.flatMap(({ controllers, primary }) => [primary, ...controllers.map(({ lock }) => lock ?? primary)]),
  );
}
