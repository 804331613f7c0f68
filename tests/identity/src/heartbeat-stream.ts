import { Client, type ClientDuplexStream, credentials } from "@grpc/grpc-js";
import {
  IdentityServiceHeartbeatRequest,
  IdentityServiceHeartbeatResponse,
  type IdentityServiceHeartbeatResponse_Result as Result,
} from "@tenure/contracts";
import { waitFor } from "@tenure/testkit";

const pass = (bytes: Buffer): Buffer => bytes;

/** A stream of beats through a gateway, as a stock gRPC client opens it. */
export class HeartbeatStream implements Disposable {
  readonly results: Result[] = [];
  readonly packedAcks: Uint8Array[] = [];
  /** Responses, empty ones included. */
  responses = 0;
  error: unknown;
  readonly #client: Client;
  readonly #stream: ClientDuplexStream<Buffer, Buffer>;

  constructor(address: string) {
    this.#client = new Client(address, credentials.createInsecure());
    this.#stream = this.#client.makeBidiStreamRequest("/tenure.v1.IdentityService/Heartbeat", pass, pass);
    this.#stream.on("data", (bytes: Buffer) => {
      const { packedAcks, results } = IdentityServiceHeartbeatResponse.decode(bytes);
      this.responses += 1;
      this.results.push(...results);
      if (packedAcks.length > 0) this.packedAcks.push(packedAcks);
    });
    this.#stream.on("error", (error) => {
      this.error = error;
    });
  }

  send(request: Parameters<typeof IdentityServiceHeartbeatRequest.fromPartial>[0]): void {
    const message = IdentityServiceHeartbeatRequest.fromPartial(request);
    this.#stream.write(Buffer.from(IdentityServiceHeartbeatRequest.encode(message).finish()));
  }

  /** Waits for what became of an identity's beat. */
  resultOf(id: string, isMeant: (result: Result) => boolean = () => true): Promise<Result> {
    const describe = `a result of ${id}`;
    return waitFor(() => this.results.find((result) => result.id === id && isMeant(result)), {
      timeoutMs: 20_000,
      describe,
    });
  }

  [Symbol.dispose](): void {
    this.#stream.cancel();
    this.#client.close();
  }
}
