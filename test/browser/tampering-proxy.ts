import type { Test } from 'tap';
import { FaultProxy } from '../catalogue/faults/proxy/fault-proxy.ts';

export interface TamperingProxy {
  readonly url: string;
  /** Changes each packet of the gateway, as latin1 text; its length must stay the same. */
  tamper: (packet: string) => string;
  /** While true nothing of the gateway arrives, and no connection closes. */
  hold: boolean;
  /** The number of connections for WebSockets that browsers have opened. */
  readonly upgrades: number;
  /** Where connections lead to; those that are open are cut when it changes. */
  gateway: string;
  cut(): void;
}

const portOf = (url: string): number => Number(new URL(url).port);

export async function openTamperingProxy(t: Test, gateway: string): Promise<TamperingProxy> {
  const proxy = await FaultProxy.start(portOf(gateway));
  t.teardown(() => proxy.close());
  const meddler: TamperingProxy = {
    url: `http://127.0.0.1:${proxy.port}`,
    tamper: (packet) => packet,
    hold: false,
    get upgrades() {
      return proxy.upgrades;
    },
    set gateway(url: string) {
      proxy.leadTo(portOf(url));
    },
    cut: () => proxy.resetConnections(),
  };
  proxy.apply(({ pass }) => ({
    onData(chunk) {
      if (!meddler.hold) pass(Buffer.from(meddler.tamper(chunk.toString('latin1')), 'latin1'));
    },
  }));
  return meddler;
}
