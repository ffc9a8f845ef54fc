import { connect, type Socket } from 'node:net';

/** Requests in flight on each connection: a worker that is stopped has some to answer in the turn that goes on. */
const IN_FLIGHT = 8;
/** Time until a connection that was closed is opened again. */
const REOPEN_MS = 20;

/** One caller over many connections, which knows the newest slot that it was served when it sent each request. */
export class PipelinedCaller {
  answers = 0;
  /** Answers with an older slot than one that was there when their request was sent. */
  stepsBack = 0;
  /** Connections that ended before all of their answers came. */
  cutOff = 0;
  readonly #port: number;
  readonly #request: string;
  readonly #senders = new Map<Socket, () => void>();
  #newest = 0;
  #isOver = false;

  constructor(url: string, path: string, connections: number) {
    this.#port = Number(new URL(url).port);
    this.#request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
    for (let i = 0; i < connections; i++) this.#open();
  }

  /** Sends one more request over each connection. */
  sendMore(): void {
    for (const send of this.#senders.values()) send();
  }

  close(): void {
    this.#isOver = true;
    for (const socket of this.#senders.keys()) socket.destroy();
  }

  #open(): void {
    const socket = connect(this.#port, '127.0.0.1');
    const knownAtSending: number[] = [];
    const send = (): void => {
      knownAtSending.push(this.#newest);
      socket.write(this.#request);
    };
    this.#senders.set(socket, send);
    let text = '';
    socket.on('error', () => {}); // it is closed then
    socket.on('close', () => {
      this.#senders.delete(socket);
      if (this.#isOver) return;
      this.cutOff++;
      setTimeout(() => !this.#isOver && this.#open(), REOPEN_MS);
    });
    socket.on('data', (data) => {
      text += data.toString('latin1');
      const slots = [...text.matchAll(/\r\nX-Slot: (\d+)\r\n/g)];
      const last = slots.at(-1);
      if (last !== undefined) text = text.slice(last.index + last[0].length);
      for (const [, digits] of slots) {
        const slot = Number(digits);
        this.answers++;
        if (slot < (knownAtSending.shift() ?? 0)) this.stepsBack++;
        this.#newest = Math.max(this.#newest, slot);
      }
      for (let i = 0; i < slots.length && !this.#isOver; i++) send();
    });
    for (let i = 0; i < IN_FLIGHT; i++) send();
  }
}
