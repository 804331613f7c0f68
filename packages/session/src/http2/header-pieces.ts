import { ErrorCode, ProtocolError } from "./protocol-error.ts";

/** Headers of a stream together, in bytes and in frames: a peer needs two of these, or a few more when they are long. */
const mostBytes = 65_536;
const mostFrames = 16;

/** Puts the blocks of headers of a stream together. */
export class HeaderPieces {
  #pieces: Buffer[] = [];
  #bytes = 0;
  #frames = 0;

  /** Whether a block goes on. */
  get isOpen(): boolean {
    return this.#pieces.length > 0;
  }

  /** The whole block with its last piece, undefined before. */
  add(piece: Buffer, isLast: boolean): Buffer | undefined {
    this.#bytes += piece.length;
    this.#frames += 1;
    const isIdle = piece.length === 0 && !isLast;
    if (isIdle || this.#bytes > mostBytes || this.#frames > mostFrames)
      throw new ProtocolError(ErrorCode.calm, "it sent too many headers");
    this.#pieces.push(piece);
    if (!isLast) return undefined;
    const block = Buffer.concat(this.#pieces);
    this.#pieces = [];
    return block;
  }
}
