import { connect, type Socket } from 'node:net';

/** A connection of an attacker, and what has come back on it. */
export class RawConnection {
  readonly socket: Socket;
  text = '';
  closed = false;
  /** When it was opened. */
  openedMs = performance.now();
  /** When the other side ended it. */
  closedMs = Number.POSITIVE_INFINITY;

  /** Resolves as soon as it is open, or refused. `from`: this side's address; of loopback there are many. */
  static open(url: string, localAddress?: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    const socket = connect({
      port: Number(port),
      host: hostname,
      ...(localAddress !== undefined && { localAddress: localAddress }),
    });
    const connection = new RawConnection(socket);
    return new Promise((resolve) => {
      socket
        .once('connect', () => {
          connection.openedMs = performance.now();
          resolve(connection);
        })
        .once('close', () => resolve(connection));
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
  discardData(): void {
    this.socket.removeAllListeners('data').resume();
    this.text = '';
  }

  /** Ends it without a trace: no goodbye, and no port that stays taken. */
  reset(): void {
    this.socket.resetAndDestroy();
  }
}

const BATCH = 250;

/** Opens many lines, a few at a time. */
export async function openConnections(
  url: string,
  count: number,
  from?: (i: number) => string,
): Promise<readonly RawConnection[]> {
  const connections: RawConnection[] = [];
  while (connections.length < count) {
    const size = Math.min(BATCH, count - connections.length);
    connections.push(
      ...(await Promise.all(
        Array.from({ length: size }, (_, i) => RawConnection.open(url, from?.(connections.length + i))),
      )),
    );
  }
  return connections;
}

/** Addresses of loopback, each of which is a caller of its own. */
export const loopbackAddress = (i: number): string => `127.${1 + ((i >> 14) % 100)}.${(i >> 7) % 128}.${1 + (i % 127)}`;
