import { jetstream } from "@nats-io/jetstream";
import { Objm } from "@nats-io/obj";
import { type Bus, createClient, ownerSubject, ownerWildcard, serve } from "@tenure/bus";
import { LeaseServiceDefinition, SystemServiceDefinition } from "@tenure/contracts";
import { systemClock, systemRandom } from "@tenure/kernel";
import {
  AppendChannel,
  JetStreamSnapshotStore,
  JetStreamTransport,
  OwnerBeats,
  readIncarnation,
  snapshotBucket,
  snapshotName,
  streamNames,
} from "@tenure/log";
import { TailWitness } from "@tenure/log/contract";
import { initialize, serviceUsers, type User, users } from "@tenure/provision";
import { bootCheck, collectFacts } from "@tenure/runtime";
import { waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { administrator, connect } from "./connect.ts";
import { type ProvisionedServer, startProvisioned } from "./provisioned.ts";
import { Violations } from "./violations.ts";

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** What no user may do at all. */
const forbiddenToAll = {
  publish: [
    "anything",
    "tenure.other",
    "$JS.API.STREAM.DELETE.TENURE_LOG",
    "$JS.API.STREAM.UPDATE.TENURE_LOG",
    "$JS.API.STREAM.RESTORE.TENURE_LOG",
    "$JS.API.STREAM.SNAPSHOT.TENURE_LOG",
    "$JS.API.STREAM.MSG.DELETE.TENURE_LOG",
    "$JS.API.STREAM.CREATE.OTHER",
    "$JS.API.STREAM.PURGE.TENURE_INCARNATION",
    "$JS.API.STREAM.PURGE.TENURE_AUDIT",
    "$JS.API.DIRECT.GET.TENURE_LOG",
    "$JS.API.STREAM.NAMES",
    "$JS.API.CONSUMER.CREATE.TENURE_AUDIT.x",
    "$JS.API.CONSUMER.DURABLE.CREATE.TENURE_LOG.x",
    "$SYS.REQ.SERVER.PING.CONNZ",
    "$SYS.REQ.SERVER.X.RELOAD",
    "_INBOX.x",
    "_INBOX_provision.x",
    "_INBOX_system.x",
    "_INBOX_compactor.x",
  ],
  subscribe: [">", "tenure.>", "tenure.log.*", "tenure.audit.>", "_INBOX.>", "$JS.>", "$SYS.>", "$O.>"],
};

/** Whoever calls the lease stores. */
const callers: readonly User[] = [...serviceUsers, "component"];

/** What only some may do: everyone else must be refused. */
const reserved: readonly {
  readonly subject: string;
  readonly kind: "publish" | "subscribe";
  readonly to: readonly User[];
}[] = [
  { kind: "publish", subject: "tenure.log.0", to: ["lease-store"] },
  { kind: "publish", subject: "$O.TENURE_SNAPSHOTS.C.x", to: ["lease-store"] },
  { kind: "publish", subject: "$O.TENURE_SNAPSHOTS.C.0.17.x", to: ["lease-store"] },
  { kind: "publish", subject: "$O.TENURE_SNAPSHOTS.M.x", to: ["lease-store"] },
  { kind: "publish", subject: "tenure.owner.x", to: ["lease-store"] },
  { kind: "subscribe", subject: "tenure.owner.*", to: ["lease-store", "gateway", "component"] },
  { kind: "publish", subject: "tenure.audit.denied", to: ["lease-store", "gateway"] },
  { kind: "publish", subject: "tenure.incarnation", to: ["provision"] },
  { kind: "publish", subject: "$JS.API.STREAM.CREATE.TENURE_LOG", to: ["provision"] },
  { kind: "publish", subject: "$JS.API.STREAM.PURGE.TENURE_LOG", to: ["compactor"] },
  { kind: "publish", subject: "$JS.API.STREAM.PURGE.OBJ_TENURE_SNAPSHOTS", to: ["compactor"] },
  { kind: "publish", subject: "$SYS.REQ.SERVER.PING.VARZ", to: ["system"] },
  { kind: "publish", subject: "tenure.probe.x", to: ["lease-store"] },
  { kind: "publish", subject: "$JS.API.STREAM.INFO.TENURE_LOG", to: [...serviceUsers, "provision"] },
  { kind: "publish", subject: "$JS.API.STREAM.MSG.GET.TENURE_LOG", to: serviceUsers },
  { kind: "publish", subject: "$JS.API.CONSUMER.CREATE.TENURE_LOG.x.tenure.log.0", to: serviceUsers },
  { kind: "publish", subject: "$JS.API.CONSUMER.CREATE.TENURE_LOG.x", to: serviceUsers },
  { kind: "publish", subject: "$JS.API.CONSUMER.MSG.NEXT.TENURE_LOG.x", to: serviceUsers },
  { kind: "publish", subject: "$JS.API.CONSUMER.DELETE.TENURE_LOG.x", to: serviceUsers },
  { kind: "publish", subject: "$JS.API.STREAM.MSG.GET.OBJ_TENURE_SNAPSHOTS", to: serviceUsers },
  { kind: "publish", subject: "tenure.rpc.LeaseService.Acquire", to: callers },
  { kind: "publish", subject: "tenure.rpc.LeaseService.Acquire.3.17", to: callers },
  { kind: "publish", subject: "tenure.rpc.GuardService.Put.3.17", to: callers },
  { kind: "publish", subject: "tenure.rpc.CandidateService.Ack.3.17", to: callers },
  { kind: "publish", subject: "tenure.rpc.StoreService.Renew", to: callers },
  { kind: "publish", subject: "tenure.rpc.StoreService.Renew.3.17", to: callers },
  { kind: "publish", subject: "tenure.rpc.StoreService.Beat.3.17", to: callers },
  { kind: "publish", subject: "tenure.rpc.StoreService.Elect", to: serviceUsers },
  { kind: "publish", subject: "tenure.rpc.StoreService.Elect.3.17", to: serviceUsers },
  { kind: "publish", subject: "tenure.control.LeaseService.all", to: callers },
  { kind: "publish", subject: "tenure.control.StoreService.all", to: callers },
  { kind: "publish", subject: "tenure.rpc.ElectionService.Explain", to: ["gateway", "component"] },
  { kind: "publish", subject: "tenure.rpc.IdentityService.Get", to: ["gateway", "component"] },
  { kind: "publish", subject: "tenure.rpc.MigrationService.Get", to: ["gateway", "component"] },
  { kind: "publish", subject: "tenure.rpc.SystemService.Doctor", to: ["gateway", "component"] },
  { kind: "publish", subject: "_INBOX_component.x", to: serviceUsers },
  { kind: "publish", subject: "_INBOX_gateway.x", to: serviceUsers },
  { kind: "publish", subject: "_INBOX_election.x", to: ["lease-store"] },
  { kind: "subscribe", subject: "tenure.rpc.LeaseService.Acquire", to: ["lease-store"] },
  { kind: "subscribe", subject: "tenure.rpc.LeaseService.Acquire.0.1", to: ["lease-store"] },
  { kind: "subscribe", subject: "tenure.control.LeaseService.all", to: ["lease-store"] },
  { kind: "subscribe", subject: "tenure.rpc.ElectionService.Explain", to: ["election"] },
  { kind: "subscribe", subject: "tenure.rpc.IdentityService.Get", to: ["identity"] },
  { kind: "subscribe", subject: "tenure.rpc.MigrationService.Get", to: ["migration"] },
  { kind: "subscribe", subject: "tenure.rpc.SystemService.Doctor", to: ["lease-store", "gateway"] },
  { kind: "subscribe", subject: "tenure.presence.*.*", to: ["election", "gateway"] },
  { kind: "subscribe", subject: "tenure.presence.lease-store.*", to: ["lease-store", "election", "gateway"] },
  ...users.flatMap((user) => [
    { kind: "subscribe", subject: `_INBOX_${user}.>`, to: [user] } as const,
    {
      kind: "publish",
      subject: `tenure.presence.${user}.x`,
      to: (serviceUsers as readonly User[]).includes(user) ? [user] : [],
    } as const,
  ]),
];

let server: ProvisionedServer;
let buses: ReadonlyMap<User, Bus>;
const busOf = (user: User): Bus => buses.get(user) as Bus;

beforeAll(async () => {
  server = await startProvisioned();
  const connected = new Map<User, Bus>();
  for (const user of users) connected.set(user, await server.connect(user));
  buses = connected;
  await initialize({
    bus: busOf("provision"),
    systemBus: busOf("system"),
    mode: "development",
    clock: systemClock,
    random: systemRandom,
    report: () => undefined,
  });
});

afterAll(async () => {
  await Promise.all([...buses.values()].map((bus) => bus.drain()));
  await server[Symbol.asyncDispose]();
});

describe("the users of the rendered configuration", () => {
  it.each(users)("%s may do exactly what it is for", async (user) => {
    const violations = new Violations(busOf(user));
    const may = (kind: "publish" | "subscribe", subject: string): Promise<boolean> =>
      kind === "publish" ? violations.mayPublish(subject) : violations.maySubscribe(subject);
    const wrong: string[] = [];
    for (const { kind, subject, to } of reserved) {
      const allowed = await may(kind, subject);
      if (allowed !== to.includes(user)) wrong.push(`${kind} ${subject} is ${allowed ? "allowed" : "refused"}`);
    }
    for (const kind of ["publish", "subscribe"] as const)
      for (const subject of forbiddenToAll[kind])
        if (await may(kind, subject)) wrong.push(`${kind} ${subject} is allowed`);
    expect(wrong).toEqual([]);
  });

  it("do not include anybody without a key", async () => {
    await expect(connect(server.url)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  });

  it.each(serviceUsers)("let %s pass the boot check and read incarnation, log and snapshots", async (user) => {
    const bus = busOf(user);
    await bootCheck({
      bus,
      systemBus: busOf("system"),
      mode: "development",
      log: silent,
      probe: user === "lease-store",
    });
    expect((await readIncarnation(bus)).partitions).toBe(8);
    const consumer = await jetstream(bus.nats).consumers.get(streamNames.log, { filter_subjects: ["tenure.log.1"] });
    await append(busOf("lease-store"), "tenure.log.1");
    const message = await consumer.next({ expires: 5000 });
    expect(message?.subject).toBe("tenure.log.1");
    await consumer.delete();
    const writer = await new Objm(busOf("lease-store").nats).open(snapshotBucket);
    await writer.putBlob({ name: `for-${user}` }, new Uint8Array(300_000).fill(7));
    const reader = await new Objm(bus.nats).open(snapshotBucket);
    expect(await reader.getBlob(`for-${user}`)).toEqual(new Uint8Array(300_000).fill(7));
  });

  it.each(serviceUsers)("let %s follow the log and load a snapshot as the product does", async (user) => {
    const [bus, store] = [busOf(user), busOf("lease-store")];
    using snapshots = new JetStreamSnapshotStore({ bus: store });
    const object = await snapshots.put(snapshotName(serviceUsers.indexOf(user), 1n), new Uint8Array(300_000).fill(9));
    using reader = new JetStreamSnapshotStore({ bus });
    expect(await reader.get(object)).toHaveLength(300_000);
    using transport = new JetStreamTransport({ control: bus });
    await using witness = new TailWitness(transport, new Map([[3, (await transport.readLast(3))?.sequence ?? 0n]]));
    await waitFor(() => witness.caughtUp.length === 1, { describe: "the tail to begin" });
    await append(store, "tenure.log.3");
    await waitFor(() => witness.messages.length === 1, { describe: "the tail to tell" });
  });

  it.each(["gateway", "component"] as const)("let %s hear who owns what", async (user) => {
    const heard: string[] = [];
    const unsubscribe = busOf(user).subscribe(ownerWildcard, (_, subject) => heard.push(subject));
    await busOf(user).flush();
    busOf("lease-store").publish(ownerSubject("a"), new Uint8Array(1));
    await waitFor(() => heard.includes(ownerSubject("a")), { describe: "the beat" });
    unsubscribe();
  });

  it("let lease stores hear each other's beats", async () => {
    await using other = await server.connect("lease-store");
    const common = { clock: systemClock, incarnationId: "x" };
    using speaker = new OwnerBeats({ ...common, bus: other, instance: "a" });
    using listener = new OwnerBeats({ ...common, bus: busOf("lease-store"), instance: "b" });
    await busOf("lease-store").flush();
    speaker.send({ owned: new Map([[1, 7n]]), uptimeMs: 5, isLeaving: false });
    await waitFor(() => listener.replicas.length === 1, { describe: "the beat" });
    expect(listener.replicas).toMatchObject([{ instance: "a", owned: new Map([[1, 7n]]), uptimeMs: 5 }]);
  });

  it("let the compactor purge the log below a sequence, and nothing else", async () => {
    await append(busOf("lease-store"), "tenure.log.2");
    const { streams } = await administrator(busOf("compactor"));
    await expect(streams.purge(streamNames.log, { filter: "tenure.log.2" })).resolves.toMatchObject({ success: true });
    await expect(streams.info(streamNames.log)).rejects.toThrow(/[Pp]ermissions/);
  });

  it("let the system user read the servers", async () => {
    const facts = await collectFacts(busOf("gateway"), busOf("system"), { probe: false });
    expect(facts.servers).toMatchObject({ kind: "read", clusterSize: 1, servers: [{ name: "provisioned" }] });
  });

  it("let calls, streams and answers through where they belong, and no call where it does not", async () => {
    await using _system = serve(busOf("lease-store"), SystemServiceDefinition, {
      doctor: () => ({ findings: [], worst: 1, silentInstances: ["x"], took: undefined }),
    });
    await using _lease = serve(busOf("lease-store"), LeaseServiceDefinition, {
      watch: async function* () {
        yield LeaseServiceDefinition.methods.watch.responseType.fromPartial({});
        yield LeaseServiceDefinition.methods.watch.responseType.fromPartial({});
      },
    });
    await busOf("lease-store").nats.flush();
    const answer = await createClient(busOf("gateway"), SystemServiceDefinition).doctor({ skipProbe: true });
    expect(answer.silentInstances).toEqual(["x"]);
    const refused = createClient(busOf("election"), SystemServiceDefinition).doctor({ skipProbe: true });
    await expect(refused).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    const watchAll = LeaseServiceDefinition.methods.watch.requestType.fromPartial({});
    for (const user of callers) {
      const items = [];
      const watch = createClient(busOf(user), LeaseServiceDefinition).watch(watchAll);
      for await (const item of watch) items.push(item);
      expect(items).toHaveLength(2);
    }
  });
});

async function append(bus: Bus, subject: string): Promise<void> {
  using channel = new AppendChannel(bus);
  const { streams } = await administrator(bus);
  const last = await streams.getMessage(streamNames.log, { last_by_subj: subject });
  const expectedLastSubjectSequence = BigInt(last?.seq ?? 0);
  const request = { subject, payload: new Uint8Array(1), expectedLastSubjectSequence, timeoutMs: 5000 };
  expect(await channel.append(request)).toMatchObject({ kind: "acked" });
}
