import { connect, type Socket } from 'node:net';

/** A TCP connection of an attacker, with the bytes received so far. */
export class RawConnection {
  readonly socket: Socket;
  text = '';
  closed = false;
  /** Time at which the connection opened. */
  openedMs = performance.now();
  /** Time at which the other side closed it. */
  closedMs = Number.POSITIVE_INFINITY;

  /** Opens a connection; resolves when it is open or refused. `localAddress` picks one of loopback's addresses. */
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

  write(packet: string | Buffer): void {
    if (this.socket.writable) this.socket.write(packet);
  }

  /** Resets the connection, which leaves no port in TIME_WAIT. */
  reset(): void {
    // Node leaks the handle of a socket that is reset while it shuts down, and then spins instead of exiting.
    const { writableEnded, writableFinished } = this.socket;
    if (this.closed || (writableEnded && !writableFinished)) this.socket.destroy();
    else this.socket.resetAndDestroy();
  }
}

const BATCH = 250;

/** Opens many connections, some at a time. */
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

/** Returns the i-th loopback address; each counts as a separate caller. */
export const loopbackAddress = (i: number): string => `127.${1 + ((i >> 14) % 100)}.${(i >> 7) % 128}.${1 + (i % 127)}`;
