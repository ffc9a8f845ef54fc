import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';

/** A proxy between a browser and a gateway. */
export interface TamperingProxy {
  readonly url: string;
  /** Changes each packet of the gateway, as latin1 text; its length must stay the same. */
  tamper: (packet: string) => string;
  /** While true nothing of the gateway arrives, and no connection closes. */
  hold: boolean;
  /** The number of connections for WebSockets that browsers have opened. */
  readonly upgrades: number;
  /** Where new connections lead to. */
  gateway: string;
  /** Cuts all connections. */
  cut(): void;
}

export async function openTamperingProxy(t: Test, gateway: string): Promise<TamperingProxy> {
  const sockets = new Set<Socket>();
  let upgrades = 0;
  const server = createServer((near) => {
    const far = connect(Number(new URL(meddler.gateway).port), '127.0.0.1');
    near.on('data', (packet) => {
      if (/^upgrade: websocket/im.test(packet.toString('latin1'))) upgrades++;
    });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    near.pipe(far);
    far.on('data', (packet) => {
      if (!meddler.hold) near.write(Buffer.from(meddler.tamper(packet.toString('latin1')), 'latin1'));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  t.teardown(() => {
    cut();
    server.close();
  });
  const meddler: TamperingProxy = {
    // A server that listens on a port has an address with one.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tamper: (packet) => packet,
    hold: false,
    get upgrades() {
      return upgrades;
    },
    gateway,
    cut,
  };
  return meddler;
}
