import { type Bus, createClient } from "@tenure/bus";
import {
  StoreServiceDefinition,
  StoreServicePutMigrationRequest,
  type StoreServicePutMigrationResponse,
} from "@tenure/contracts";
import { type Asking, type Input, LeaseClient, type StoreCalls } from "@tenure/session";

/** What the migration service asks of the lease store. */
export class MigrationStore extends LeaseClient {
  readonly #store: ReturnType<typeof createClient<typeof StoreServiceDefinition>>;

  constructor(bus: Bus, calls: StoreCalls) {
    super(calls);
    this.#store = createClient(bus, StoreServiceDefinition);
  }

  /** Puts a configuration in force on its lock's lease, or ends it. */
  putMigration(
    request: Input<typeof StoreServicePutMigrationRequest>,
    { deadlineMs, principal, signal }: Asking,
  ): Promise<StoreServicePutMigrationResponse> {
    const message = StoreServicePutMigrationRequest.fromPartial(request);
    return this.#store.putMigration(message, { deadlineMs, principal, signal });
  }
}
