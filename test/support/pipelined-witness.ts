import { connect, type Socket } from 'node:net';

/** What was seen over connections to all workers, with many requests on each at a time. */
export interface PipelinedTestimony {
  answers: number;
  /** Answers with a lower slot than an earlier one to the same question. */
  stepsBack: number;
  /** Connections that ended before all of their answers came. */
  cutOff: number;
}

const CONNECTIONS = 8;

/** The most requests that wait for their answers on a connection. */
const BATCH = 64;

const RETRY_MS = 20;

const SLOT_HEADER = Buffer.from('\r\nX-Slot: ');
const DIGIT_0 = 48;

/** Reads the slots that headers of answers name; a header may be cut by the end of a packet. */
class SlotScanner {
  #rest: Buffer = Buffer.alloc(0);

  /** Calls `onSlot` with each slot of these bytes. */
  scan(data: Buffer, onSlot: (slot: number) => void): void {
    const all = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data]);
    let from = 0;
    for (;;) {
      const found = all.indexOf(SLOT_HEADER, from);
      if (found < 0) {
        this.#rest = Buffer.from(all.subarray(Math.max(from, all.length - SLOT_HEADER.length + 1)));
        return;
      }
      let at = found + SLOT_HEADER.length;
      let slot = 0;
      for (let byte = all[at]; byte !== undefined && byte >= DIGIT_0 && byte <= DIGIT_0 + 9; byte = all[++at])
        slot = slot * 10 + byte - DIGIT_0;
      if (at === all.length) {
        this.#rest = Buffer.from(all.subarray(found));
        return;
      }
      onSlot(slot);
      from = at;
    }
  }
}

/**
 * Asks one question again and again until `isOver`: a batch over one connection, and when its answers are there the next
 * one over another, so that it meets all workers, after a pause that leaves the machine to others. It reads nothing of an
 * answer but its slot, and so asks millions of times.
 */
export async function pipelinedWitness(
  url: string,
  path: string,
  isOver: () => boolean,
  testimony: PipelinedTestimony,
  pauseMs = 0,
): Promise<void> {
  const port = Number(new URL(url).port);
  const batch = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`.repeat(BATCH);
  const sockets: (Socket | undefined)[] = Array.from({ length: CONNECTIONS });
  const ending = new Map<Socket, () => void>();
  const open = (): Promise<Socket | undefined> =>
    new Promise((resolve) => {
      const socket = connect({ port, host: '127.0.0.1' }, () => resolve(socket));
      socket.on('error', () => {}); // it is closed then
      socket.on('close', () => {
        resolve(undefined);
        ending.get(socket)?.();
      });
    });
  let newest = 0;
  const askBatch = (socket: Socket): Promise<boolean> =>
    new Promise((resolve) => {
      const scanner = new SlotScanner();
      let answered = 0;
      const end = (isWhole: boolean): void => {
        ending.delete(socket);
        socket.removeAllListeners('data');
        resolve(isWhole);
      };
      ending.set(socket, () => end(false));
      socket.on('data', (data: Buffer) => {
        scanner.scan(data, (slot) => {
          answered++;
          testimony.answers++;
          if (slot < newest) testimony.stepsBack++;
          newest = Math.max(newest, slot);
        });
        if (answered >= BATCH) end(true);
      });
      if (socket.destroyed) end(false);
      else socket.write(batch);
    });
  for (let i = 0; !isOver(); i = (i + 1) % CONNECTIONS) {
    const socket = sockets[i] ?? (await open());
    if (socket === undefined) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    const isWhole = socket !== undefined && (await askBatch(socket));
    if (socket !== undefined && !isWhole) {
      testimony.cutOff++;
      socket.destroy();
    }
    sockets[i] = isWhole ? socket : undefined;
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  for (const socket of sockets) socket?.destroy();
}
