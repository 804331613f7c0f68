import { Client, type ClientDuplexStream, credentials, type ServiceError } from "@grpc/grpc-js";
import { MigrationServiceJoinRequest, MigrationServiceJoinResponse } from "@tenure/contracts";

const pass = (bytes: Buffer): Buffer => bytes;

/** A participant's stream through a gateway, as a stock gRPC client opens it. */
export class JoinStream implements Disposable {
  readonly answers: MigrationServiceJoinResponse[] = [];
  error: ServiceError | undefined;
  readonly #client: Client;
  readonly #stream: ClientDuplexStream<Buffer, Buffer>;

  constructor(address: string) {
    this.#client = new Client(address, credentials.createInsecure());
    this.#stream = this.#client.makeBidiStreamRequest("/tenure.v1.MigrationService/Join", pass, pass);
    this.#stream.on("data", (bytes: Buffer) => {
      const answer = MigrationServiceJoinResponse.decode(bytes);
      if (answer.revision > 0n) this.answers.push(answer);
    });
    this.#stream.on("error", (error: ServiceError) => {
      this.error = error;
    });
  }

  send(request: Parameters<typeof MigrationServiceJoinRequest.fromPartial>[0]): void {
    const message = MigrationServiceJoinRequest.fromPartial(request);
    this.#stream.write(Buffer.from(MigrationServiceJoinRequest.encode(message).finish()));
  }

  [Symbol.dispose](): void {
    this.#stream.cancel();
    this.#client.close();
  }
}
