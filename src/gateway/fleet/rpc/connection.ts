import type { Socket } from 'node:net';
import { Packr } from 'msgpackr/pack';

/** The longest message: an answer of a node may be 32 MiB long, and come twice. */
const MAX_MESSAGE_BYTES = 80 << 20;

/** The most bytes that wait for a peer: one that reads so little is of no use any more. */
const MAX_UNSENT_BYTES = 128 << 20;
const HEAD_BYTES = 4;

/** Members have their names in each message, so that processes of two builds understand each other. */
const packr = new Packr({ useRecords: false });

/** One end of a connection between two processes of this machine: messages in both directions, in order. */
export class Connection<Sent extends object, Received> {
  readonly #socket: Socket;
  #next: number | undefined;

  constructor(socket: Socket, onMessage: (message: Received) => void, onClose: () => void) {
    this.#socket = socket;
    socket.on('readable', () => this.#receive(onMessage));
    socket.on('error', () => {}); // close follows
    socket.on('close', onClose);
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.writable;
  }

  /** Sends a message, unless the connection is closed. A peer that reads nothing is cut off. */
  send(message: Sent): void {
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

  #receive(onMessage: (message: Received) => void): void {
    while (!this.#socket.destroyed) {
      this.#next ??= this.#read(HEAD_BYTES)?.readUInt32LE(0);
      if (this.#next === undefined) return;
      if (this.#next > MAX_MESSAGE_BYTES) this.close();
      const body = this.isOpen ? this.#read(this.#next) : undefined;
      if (body === undefined) return;
      this.#next = undefined;
      onMessage(packr.unpack(body));
    }
  }

  #read(bytes: number): Buffer | undefined {
    const data: Buffer | null = this.#socket.read(bytes);
    return data?.length === bytes ? data : undefined;
  }
}
