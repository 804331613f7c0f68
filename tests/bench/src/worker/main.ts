import { type ReadyWork, renewing, startWork } from "../workloads/index.ts";
import { type ClientKind, clientKinds } from "./client-kinds.ts";
import type { MeasureOrder, WorkAnswer, WorkOrder } from "./messages.ts";

/** The entry of a client process: does one kind of work when it is told to, and ends with whoever started it. */
const order = JSON.parse(process.argv[2] ?? "") as WorkOrder;
const kind: ClientKind = clientKinds[order.client];

process.on("disconnect", () => process.exit());

async function start(): Promise<ReadyWork> {
  const { endpoint, workload } = order;
  if (workload.kind !== "connections") return await startWork(await kind.open(endpoint), workload);
  if (kind.connections === undefined) throw new Error(`${order.client} has no connections of its own`);
  return renewing(await kind.connections(endpoint, workload.connections));
}

async function answer(act: () => Promise<WorkAnswer>): Promise<void> {
  const told = await act().catch(
    (thrown: unknown): WorkAnswer => ({
      kind: "failed",
      message: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown),
    }),
  );
  process.send?.(told);
}

let work: ReadyWork | undefined;
process.on("message", ({ durationMs }: MeasureOrder) => {
  void answer(async () => ({ kind: "done", figures: (await work?.(durationMs)) ?? {} }));
});
await answer(async () => {
  work = await start();
  return { kind: "done", figures: {} };
});
