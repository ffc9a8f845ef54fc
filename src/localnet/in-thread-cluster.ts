import type { Clock } from '../domain/clock.ts';
import { Chain } from './bank/chain.ts';
import type { Genesis } from './cluster-genesis.ts';
import { type ClusterControl, createClusterControl } from './control/cluster-control.ts';
import { SlotTicker } from './control/slot-ticker.ts';
import { noFaults } from './rpc/injected-faults.ts';
import { startRpcServer } from './rpc-server.ts';
import { PRICE_FEEDS, startPriceFeeds } from './traffic/demo-price-feeds.ts';
import { createFaucet } from './traffic/faucet.ts';
import { startTraffic } from './traffic/traffic-generator.ts';
import type { TrafficSetup } from './traffic/traffic-setup.ts';

export interface LocalClusterOptions {
  /** 0 takes a free port. */
  readonly port?: number;
  /** Transactions per slot on average; 0 for a chain on which nothing happens. */
  readonly transactionsPerSlot?: number;
  /** One slot in so many has no block; 0 for none. */
  readonly skipEvery?: number;
  readonly slotsPerEpoch?: number;
}

/** A Solana cluster that answers on loopback. */
export interface LocalCluster {
  readonly url: string;
  readonly wsUrl: string;
  readonly genesisHash: string;
  /** The Pyth feeds that it carries, by mint. */
  readonly priceFeeds: Readonly<Record<string, string>>;
  readonly control: ClusterControl;
  close(): Promise<void>;
}

/** A cluster in the caller's thread, whose insides a test may touch. */
export interface InThreadCluster extends LocalCluster {
  readonly chain: Chain;
  readonly setup: TrafficSetup;
}

/** The same life in every cluster. */
const TRAFFIC_SEED = 1;

/** Starts a cluster in this thread; slots pass as the given clock does. */
export async function startInThreadCluster(
  clock: Clock,
  genesis: Genesis,
  { port = 0, transactionsPerSlot = 5, skipEvery = 23, slotsPerEpoch = 8192 }: LocalClusterOptions = {},
): Promise<InThreadCluster> {
  const { hash: genesisHash, originMs, slotMs } = genesis;
  const chain = await Chain.create({ clock, genesisHash, originMs, slotMs, skipEvery, slotsPerEpoch });
  const faucet = createFaucet(chain);
  const setup = await startTraffic(chain, { transactionsPerSlot, seed: TRAFFIC_SEED });
  await startPriceFeeds(chain);
  const faults = noFaults();
  chain.produceBlock(); // the first block is complete; before it nothing can be asked
  const server = await startRpcServer({ chain, faucet, faults, clock }, { port });
  const slotTicker = new SlotTicker(clock, chain);
  slotTicker.start();
  return {
    url: server.url,
    wsUrl: server.wsUrl,
    genesisHash,
    priceFeeds: PRICE_FEEDS,
    control: createClusterControl({ chain, slotTicker, faults, server }),
    chain,
    setup,
    async close() {
      slotTicker.stop();
      await server.close();
    },
  };
}
