import type { Clock } from '../domain/clock.ts';
import { Chain } from './bank/chain.ts';
import { type Control, controlOf } from './control/control.ts';
import { Pacer } from './control/pacer.ts';
import type { Genesis } from './genesis.ts';
import { noFaults } from './rpc/faults.ts';
import { startRpcServer } from './server.ts';
import { openEconomy } from './traffic/economy.ts';
import { openFaucet } from './traffic/faucet.ts';
import { openPriceFeeds, PRICE_FEEDS } from './traffic/price-feeds.ts';
import type { Stage } from './traffic/stage.ts';

export interface ClusterOptions {
  /** 0 takes a free port. */
  readonly port?: number;
  /** Transactions per slot on average; 0 for a chain on which nothing happens. */
  readonly perSlot?: number;
  /** One slot in so many has no block; 0 for none. */
  readonly skipEvery?: number;
  readonly slotsPerEpoch?: number;
}

/** A Solana cluster that answers on loopback. */
export interface Cluster {
  readonly url: string;
  readonly wsUrl: string;
  readonly genesisHash: string;
  /** The Pyth feeds that it carries, by mint. */
  readonly priceFeeds: Readonly<Record<string, string>>;
  readonly control: Control;
  close(): Promise<void>;
}

/** A cluster in the caller's thread, whose insides a test may touch. */
export interface InThreadCluster extends Cluster {
  readonly chain: Chain;
  readonly stage: Stage;
}

/** The same life in every cluster. */
const SEED = 1;

/** Starts a cluster in this thread; slots pass as the given clock does. */
export async function createEmbedded(
  clock: Clock,
  genesis: Genesis,
  { port = 0, perSlot = 5, skipEvery = 23, slotsPerEpoch = 8192 }: ClusterOptions = {},
): Promise<InThreadCluster> {
  const { hash: genesisHash, originMs, slotMs } = genesis;
  const chain = await Chain.create({ clock, genesisHash, originMs, slotMs, skipEvery, slotsPerEpoch });
  const faucet = openFaucet(chain);
  const stage = await openEconomy(chain, { perSlot, seed: SEED });
  await openPriceFeeds(chain);
  const faults = noFaults();
  chain.tick(); // the first block is complete; before it nothing can be asked
  const server = await startRpcServer({ chain, faucet, faults, clock }, { port });
  const pacer = new Pacer(clock, chain);
  pacer.start();
  return {
    url: server.url,
    wsUrl: server.wsUrl,
    genesisHash,
    priceFeeds: PRICE_FEEDS,
    control: controlOf({ chain, pacer, faults, server }),
    chain,
    stage,
    async close() {
      pacer.stop();
      await server.close();
    },
  };
}
