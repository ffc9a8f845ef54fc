import bs58 from 'bs58';
import type { Clock } from '../shared/domain/clock.ts';
import { TARGET_SLOT_MS } from '../shared/domain/slot-time.ts';
import { Chain } from './bank/chain.ts';
import type { LocalClusterOptions } from './embedded-cluster.ts';
import { GeyserFaults } from './geyser/geyser-faults.ts';
import { InjectedFaults } from './rpc/injected-faults.ts';
import { startRpcServer } from './rpc-server.ts';
import { SlotTicker } from './slot-ticker.ts';
import { DEMO_ACCOUNTS } from './traffic/demo-accounts.ts';
import { PRICE_FEEDS, startPriceFeeds } from './traffic/demo-price-feeds.ts';
import { createFaucet } from './traffic/faucet.ts';
import { startTraffic } from './traffic/traffic-generator.ts';

/** Seed of the traffic, the same in every cluster. */
const TRAFFIC_SEED = 1;

/** First slot of a cluster. It is not 0: the cluster looks as if it had run for some days. */
const FIRST_SLOT = 1_000_000;

/**
 * Starts a cluster in this thread, whose parts a test may use; slots pass with the given clock. It keeps no state, so each start needs 32 bytes of its own
 * for its genesis hash: under an old one, answers about another state would be signed for slots that are signed already.
 */
export async function startInThreadCluster(
  clock: Clock,
  genesis: Uint8Array,
  {
    slotMs = TARGET_SLOT_MS,
    transactionsPerSlot = 5,
    skipEvery = 23,
    slotsPerEpoch = 8192,
    geyserPort = null,
    ...ports
  }: LocalClusterOptions = {},
) {
  const genesisHash = bs58.encode(genesis);
  const originMs = clock.now() - FIRST_SLOT * slotMs;
  const chain = await Chain.create({ clock, genesisHash, originMs, slotMs, skipEvery, slotsPerEpoch });
  const faucet = createFaucet(chain);
  const setup = await startTraffic(chain, { transactionsPerSlot, seed: TRAFFIC_SEED });
  startPriceFeeds(chain);
  const faults = new InjectedFaults();
  chain.produceBlock(); // the first block is complete; before it no request can be answered
  const server = await startRpcServer({ chain, faucet, faults, clock }, ports);
  const geyserFaults = new GeyserFaults();
  const geyser =
    geyserPort === null
      ? undefined
      : await import('./geyser/geyser-server.ts').then(({ startGeyserServer }) =>
          startGeyserServer(chain, clock, geyserFaults, geyserPort),
        );
  const slotTicker = new SlotTicker(clock, chain);
  slotTicker.start();
  return {
    url: server.url,
    wsUrl: server.wsUrl,
    geyserUrl: geyser?.url,
    takenPort: server.takenPort,
    genesisHash,
    accounts: DEMO_ACCOUNTS,
    priceFeeds: PRICE_FEEDS,
    chain,
    setup,
    server,
    slotTicker,
    faults,
    geyserFaults,
    feed: geyser?.feed,
    async close() {
      slotTicker.stop();
      await geyser?.close();
      await server.close();
    },
  };
}
