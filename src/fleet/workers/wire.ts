import type { Socket } from 'node:net';
import { Packr } from 'msgpackr';

/** The longest message: an answer of a node may be 32 MiB long, and come twice. */
const MAX_MESSAGE_BYTES = 80 << 20;

/** The most bytes that wait for a peer: who reads so little is of no use any more. */
const MAX_UNSENT_BYTES = 128 << 20;

const HEAD_BYTES = 4;
const packr = new Packr({ useRecords: false });

/** A message: its name, then its fields. Unknown names and trailing fields are skipped. */
export type Message = readonly [name: string, ...fields: unknown[]];

/** One end of a connection between two processes of this machine: messages in both directions, in order. */
export class Wire {
  readonly #socket: Socket;
  #pieces: Buffer[] = [];
  #length = 0;

  /** `onMessage` is called with each message, `onClose` once. */
  constructor(socket: Socket, onMessage: (message: Message) => void, onClose: () => void) {
    this.#socket = socket;
    socket.on('data', (data: Buffer) => this.#receive(data, onMessage));
    socket.on('error', () => {}); // close follows
    socket.on('close', onClose);
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.writable;
  }

  /** Sends a message, unless the connection is closed. A peer that takes nothing is cut off. */
  send(...message: Message): void {
    if (!this.isOpen) return;
    const body = packr.pack(message);
    const head = Buffer.allocUnsafe(HEAD_BYTES);
    head.writeUInt32LE(body.length, 0);
    this.#socket.cork();
    this.#socket.write(head);
    this.#socket.write(body);
    this.#socket.uncork();
    if (this.#socket.writableLength > MAX_UNSENT_BYTES) this.#socket.destroy();
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(data: Buffer, onMessage: (message: Message) => void): void {
    this.#pieces.push(data);
    this.#length += data.length;
    while (this.#length >= HEAD_BYTES && !this.#socket.destroyed) {
      const length = this.#peekLength();
      if (length > MAX_MESSAGE_BYTES) {
        this.#socket.destroy();
        return;
      }
      if (this.#length < HEAD_BYTES + length) return;
      const all = this.#joined();
      const next = HEAD_BYTES + length;
      this.#pieces = all.length > next ? [all.subarray(next)] : [];
      this.#length = all.length - next;
      onMessage(packr.unpack(all.subarray(HEAD_BYTES, next)) as Message);
    }
  }

  #peekLength(): number {
    const [first] = this.#pieces;
    return first !== undefined && first.length >= HEAD_BYTES ? first.readUInt32LE(0) : this.#joined().readUInt32LE(0);
  }

  /** Joins the pieces: once for each message that is complete, so that a long one costs no more than its length. */
  #joined(): Buffer {
    const [first] = this.#pieces;
    const all = this.#pieces.length === 1 && first !== undefined ? first : Buffer.concat(this.#pieces, this.#length);
    this.#pieces = [all];
    return all;
  }
}
