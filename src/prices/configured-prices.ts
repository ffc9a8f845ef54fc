import type { PriceSettings } from '../config/prices-schema.ts';
import type { Clock } from '../domain/clock.ts';
import { PRICE_SOURCES, type PriceSourceName } from '../domain/price-source-names.ts';
import type { Slot } from '../domain/slot.ts';
import type { AccountSource } from '../upstream/reads/account-batcher.ts';
import { cachedPrices } from './cached-prices.ts';
import { httpGetText } from './http-get.ts';
import { jupiterPrices } from './jupiter-prices.ts';
import { createPriceLookup, type PriceLookup } from './price-lookup.ts';
import type { PriceSource } from './price-source.ts';
import { pythPrices } from './pyth-prices.ts';
import { staticPrices } from './static-prices.ts';
import { watchedPrices } from './watched-prices.ts';

/** The dependencies of the sources. */
export interface PriceDeps {
  /** The source of the accounts of on-chain feeds. */
  readonly accounts: AccountSource;
  readonly clock: Clock;
  /** The Pyth feeds of an embedded cluster, by mint; undefined for any other cluster. */
  readonly clusterFeeds: Readonly<Record<string, string>> | undefined;
  /** The time limit of a request to a service, in milliseconds. */
  readonly timeoutMs: number;
  readonly tip: () => { readonly slot: Slot; readonly slotTimeMs: number };
  /** Called once when a source begins to fail. */
  readonly onOutage: (source: PriceSourceName, cause: unknown) => void;
  /** Called once when it gives prices again. */
  readonly onRecovery: (source: PriceSourceName) => void;
}

/** The time after a failure in which a service is not asked again. */
const SERVICE_PAUSE_MS = 5000;

/** The largest response of a service, in bytes; fifty prices take a few KB. */
const MAX_RESPONSE_BYTES = 1 << 20;

/** Opens the configured sources, always in the order of {@link PRICE_SOURCES}. */
export function configuredPrices(settings: PriceSettings, deps: PriceDeps): PriceLookup {
  const { maxAgeSec } = settings;
  const { accounts, clock, clusterFeeds, timeoutMs, tip } = deps;
  const watch = (source: PriceSource, pauseMs: number): PriceSource =>
    watchedPrices(source, {
      clock,
      pauseMs,
      onOutage: (cause) => deps.onOutage(source.name, cause),
      onRecovery: () => deps.onRecovery(source.name),
    });
  const openSource: Readonly<Record<PriceSourceName, () => PriceSource>> = {
    static: () => staticPrices(settings.static),
    'pyth-onchain': () =>
      watch(pythPrices({ accounts, clock, maxAgeSec, feeds: { ...clusterFeeds, ...settings.pyth.feeds } }), 0),
    'jupiter-v3': () => {
      const getWithLimits = (url: string) => httpGetText(url, { clock, timeoutMs, maxBytes: MAX_RESPONSE_BYTES });
      const service = jupiterPrices({ url: settings.jupiter.url, getText: getWithLimits, maxAgeSec, tip });
      return cachedPrices(watch(service, SERVICE_PAUSE_MS), clock);
    },
  };
  const enabled: readonly PriceSourceName[] = settings.sources ?? (clusterFeeds === undefined ? [] : ['pyth-onchain']);
  const sources = PRICE_SOURCES.filter((name) => enabled.includes(name)).map((name) => openSource[name]());
  return createPriceLookup(sources, { maxAgeSec });
}
