import { etcdConnections } from "../clients/etcd/connections.ts";
import { EtcdClient } from "../clients/etcd/etcd-client.ts";
import { GrpcLink } from "../clients/etcd/grpc-link.ts";
import { Http2Link } from "../clients/etcd/http2-link.ts";
import type { PeerClient, Renewer } from "../clients/peer-client.ts";
import { GrpcEcho } from "../clients/raw/grpc-echo.ts";
import { JetStreamAppends } from "../clients/raw/jetstream-appends.ts";
import { LogChanges } from "../clients/raw/log-changes.ts";
import { NatsEcho } from "../clients/raw/nats-echo.ts";
import { tenureConnections } from "../clients/tenure/connections.ts";
import { TenureClient } from "../clients/tenure/tenure-client.ts";
import { ZooKeeperClient } from "../clients/zookeeper/zookeeper-client.ts";

/** A way to reach a system from Node.js. */
export interface ClientKind {
  open(endpoint: string): Promise<PeerClient>;
  /** Many connections of one process, with one lease each. */
  connections?(endpoint: string, count: number): Promise<Renewer>;
}

const openGrpc = async (endpoint: string) => new GrpcLink(endpoint);
const openHttp2 = (endpoint: string) => Http2Link.open(endpoint);

/** Every client that is measured, by its name. */
export const clientKinds = {
  "tenure-grpc": {
    open: (endpoint) => TenureClient.open({ endpoint }),
    connections: (endpoint, count) => tenureConnections({ endpoint }, count),
  },
  "tenure-nats": { open: (endpoint) => TenureClient.open({ nats: { servers: [endpoint] } }) },
  "etcd-grpc": {
    open: async (endpoint) => new EtcdClient(await openGrpc(endpoint)),
    connections: (endpoint, count) => etcdConnections(endpoint, count, openGrpc),
  },
  "etcd-http2": {
    open: async (endpoint) => new EtcdClient(await openHttp2(endpoint)),
    connections: (endpoint, count) => etcdConnections(endpoint, count, openHttp2),
  },
  "raw-nats": { open: (endpoint) => NatsEcho.open(endpoint) },
  "raw-jetstream": { open: (endpoint) => JetStreamAppends.open(endpoint) },
  "raw-log": { open: (endpoint) => LogChanges.open(endpoint) },
  "raw-grpc": { open: async (endpoint) => new GrpcEcho(endpoint, "unary") },
  "raw-grpc-stream": { open: async (endpoint) => new GrpcEcho(endpoint, "stream") },
  zookeeper: { open: (endpoint) => ZooKeeperClient.open(endpoint) },
} satisfies Readonly<Record<string, ClientKind>>;

export type ClientName = keyof typeof clientKinds;
