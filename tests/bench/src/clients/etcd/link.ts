/** One connection to etcd, whatever carries it: encoded messages in and out. */
export interface EtcdLink extends AsyncDisposable {
  unary(method: string, request: Uint8Array): Promise<Uint8Array>;
  /** Opens a stream both ways. */
  stream(method: string, onMessage: (message: Uint8Array) => void): EtcdStream;
}

/** The sending side of a stream. */
export interface EtcdStream {
  send(message: Uint8Array): void;
  end(): void;
}

/** How a link is opened. */
export type OpenLink = (endpoint: string) => Promise<EtcdLink>;
