import { connect, type Socket } from 'node:net';

/** A connection of an attacker, and what has come back on it. */
export class Line {
  readonly socket: Socket;
  text = '';
  closed = false;
  /** When it was opened. */
  openMs = performance.now();
  /** When the other side ended it. */
  closedMs = Number.POSITIVE_INFINITY;

  /** Resolves as soon as it is open, or refused. `from`: this side's address; of loopback there are many. */
  static open(url: string, from?: string): Promise<Line> {
    const { hostname, port } = new URL(url);
    const socket = connect({ port: Number(port), host: hostname, ...(from !== undefined && { localAddress: from }) });
    const line = new Line(socket);
    return new Promise((resolve) => {
      socket
        .once('connect', () => {
          line.openMs = performance.now();
          resolve(line);
        })
        .once('close', () => resolve(line));
    });
  }

  private constructor(socket: Socket) {
    this.socket = socket.setNoDelay(true).setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      this.text += chunk;
    });
    const end = (): void => {
      if (!this.closed) this.closedMs = performance.now();
      this.closed = true;
    };
    socket.on('end', end).on('error', end).on('close', end);
  }

  /** Does nothing on a line that has ended. */
  write(packet: string | Buffer): void {
    if (this.socket.writable) this.socket.write(packet);
  }

  /** Reads on without keeping anything, as cheaply as can be. */
  drain(): void {
    this.socket.removeAllListeners('data').resume();
    this.text = '';
  }

  /** Ends it without a trace: no goodbye, and no port that stays taken. */
  cut(): void {
    this.socket.resetAndDestroy();
  }
}

const BATCH = 250;

/** Opens many lines, a few at a time. */
export async function openLines(url: string, count: number, from?: (i: number) => string): Promise<readonly Line[]> {
  const lines: Line[] = [];
  while (lines.length < count) {
    const size = Math.min(BATCH, count - lines.length);
    lines.push(
      ...(await Promise.all(Array.from({ length: size }, (_, i) => Line.open(url, from?.(lines.length + i))))),
    );
  }
  return lines;
}

/** Addresses of loopback, each of which is a caller of its own. */
export const anyone = (i: number): string => `127.${1 + ((i >> 14) % 100)}.${(i >> 7) % 128}.${1 + (i % 127)}`;
