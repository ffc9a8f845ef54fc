import type { PriceSettings } from '../../config/prices-schema.ts';
import type { Clock } from '../../shared/domain/clock.ts';
import { GatewayError } from '../../shared/domain/gateway-error.ts';
import { PRICE_SOURCES, type PriceSourceName } from '../../shared/domain/price-source-names.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import { formatDouble, parseDecimal } from '../../transactions/index.ts';
import type { AccountSource } from '../upstream/reads/account-batcher.ts';
import { cachedPrices, lastPrices } from './cached-prices.ts';
import { type GetBytes, httpGet } from './http-get.ts';
import { JUPITER_MAX_IDS, jupiterPrices } from './jupiter-prices.ts';
import { cachedVerified, jupiterVerifiedMints } from './jupiter-verified-mints.ts';
import { createPriceLookup } from './price-lookup.ts';
import { type FindPrices, pricesOf } from './price-source.ts';
import { pythPrices } from './pyth-prices.ts';
import { watchedService } from './watched-service.ts';

export interface PriceDeps {
  readonly accounts: AccountSource;
  readonly clock: Clock;
  /** The Pyth feeds of an embedded cluster, by mint; undefined for any other cluster. */
  readonly clusterFeeds: Readonly<Record<string, string>> | undefined;
  /** The key of Jupiter's API; undefined for none. It is a secret. */
  readonly jupiterKey: string | undefined;
  readonly timeoutMs: number;
  readonly tip: () => { readonly slot: Slot; readonly slotTimeMs: number };
  readonly onOutage: (source: PriceSourceName, cause: unknown) => void;
  readonly onRecovery: (source: PriceSourceName) => void;
}

/** The shortest time after a failure in which a service is not called again, in milliseconds. */
const SERVICE_PAUSE_MS = 5000;

const servicePauseMs = (failure: unknown): number =>
  Math.max(SERVICE_PAUSE_MS, (GatewayError.from(failure).retryAfter ?? 0) * 1000);

/** The largest response of a service, in bytes; fifty prices take a few KB, fifty tokens some 100 KB. */
const MAX_RESPONSE_BYTES = 1 << 20;

/** Opens the configured sources, always in the order of {@link PRICE_SOURCES}. */
export function configuredPrices(settings: PriceSettings, deps: PriceDeps) {
  const { maxAgeSec, maxStaleSec, jupiter, pyth } = settings;
  const { accounts, clock, clusterFeeds, jupiterKey, timeoutMs, tip } = deps;
  const watch = <A extends readonly unknown[], R>(
    name: PriceSourceName,
    call: (...args: A) => Promise<R>,
    pauseMsAfter: (failure: unknown) => number,
  ) =>
    watchedService(call, {
      clock,
      pauseMsAfter,
      onOutage: (cause) => deps.onOutage(name, cause),
      onRecovery: () => deps.onRecovery(name),
    });
  const headers: Readonly<Record<string, string>> = jupiterKey === undefined ? {} : { 'x-api-key': jupiterKey };
  let clear = (): void => {};
  const get: GetBytes = (url, cost) => {
    if (cost !== undefined) cost.calls++;
    return httpGet(url, { clock, timeoutMs, maxBytes: MAX_RESPONSE_BYTES, headers });
  };
  const openSource: Readonly<Record<PriceSourceName, () => FindPrices>> = {
    static: () => staticPrices(settings.static),
    'pyth-onchain': () => {
      const feeds = { ...clusterFeeds, ...pyth.feeds };
      const source = lastPrices(
        watch('pyth-onchain', pythPrices({ accounts, programs: pyth.programs, feeds }), () => 0),
      );
      clear = source.clear;
      return source.find;
    },
    'jupiter-v3': () => {
      const service = watch('jupiter-v3', jupiterPrices({ url: jupiter.url, get, clock, tip }), servicePauseMs);
      return cachedPrices(lastPrices(service).find, JUPITER_MAX_IDS, clock);
    },
  };
  const enabled: readonly PriceSourceName[] = settings.sources ?? (clusterFeeds === undefined ? [] : ['pyth-onchain']);
  const opened = PRICE_SOURCES.filter((name) => enabled.includes(name));
  const sources = new Map(opened.map((name) => [name, openSource[name]()]));
  return {
    prices: createPriceLookup(sources, { clock, maxAgeSec, maxStaleSec }),
    /** Finds the mints on a service's list of verified tokens; undefined where no service is a source. */
    findVerified: enabled.includes('jupiter-v3')
      ? cachedVerified(
          watch('jupiter-v3', jupiterVerifiedMints({ url: jupiter.tokensUrl, get }), servicePauseMs),
          clock,
        )
      : undefined,
    clear: () => clear(),
  };
}

/** Creates a source of prices from the configuration: for pegged tokens, and for tests. */
const staticPrices = (usdByMint: Readonly<Record<string, number>>): FindPrices => {
  const usdPrices = new Map(Object.entries(usdByMint).map(([mint, usd]) => [mint, parseDecimal(formatDouble(usd))]));
  return async (mints) =>
    pricesOf(mints, (mint) => {
      const usd = usdPrices.get(mint);
      return usd && { usd, source: 'static', slot: null, time: null, stale: false };
    });
};
