import type { Socket } from "node:net";
import { type PeerCertificate, TLSSocket } from "node:tls";

/**
 * Has a connection's certificate read now and never again. Node.js reads it anew whenever it is asked, which is once for
 * each call; and the same certificate is the same object then, so that what follows from it can be remembered.
 */
export function readCertificateOnce(socket: TLSSocket): void {
  const certificate = socket.getPeerCertificate();
  Object.defineProperty(socket, "getPeerCertificate", { value: () => certificate });
}

/** The verified certificate of a connection's peer, as the gRPC library gives it for a call. */
export function certificateOf(socket: Socket): PeerCertificate | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const certificate = socket.getPeerCertificate();
  return certificate.raw === undefined ? undefined : certificate;
}
