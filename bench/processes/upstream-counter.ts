import { subscribe } from 'node:diagnostics_channel';
import { loadConfig } from '../../src/config/load-config.ts';
import { PRICE_FEEDS } from '../../src/localnet/traffic/demo-price-feeds.ts';
import { findPriceFeedAddress } from '../../src/solana/accounts/pyth-price.ts';

// Preloaded into a gateway: counts its upstream calls by method, those that read nothing but price feeds apart, and
// answers each message of the parent process with the counts so far.

/** What undici publishes before it sends a request: https://undici.nodejs.org/#/docs/api/DiagnosticsChannel */
interface RequestMessage {
  readonly request: { readonly body?: unknown };
}

const { programs } = loadConfig({ cwd: process.cwd() }).prices.pyth;
const priceFeeds = new Set(
  Object.values(PRICE_FEEDS).flatMap((feed) =>
    programs.map(({ pushOracle }) => findPriceFeedAddress(pushOracle, feed)),
  ),
);
const counts = new Map<string, number>();

/** Returns the name under which a call is counted. */
function nameOf(method: string, params: unknown): string {
  const addresses: unknown = Array.isArray(params) ? params[0] : undefined;
  const readsPrices = Array.isArray(addresses) && addresses.every((address) => priceFeeds.has(address));
  return method === 'getMultipleAccounts' && readsPrices ? 'price feeds' : method;
}

subscribe('undici:request:create', (message) => {
  const { body } = (message as RequestMessage).request; // the channel's documented form
  if (typeof body !== 'string' && !Buffer.isBuffer(body)) return;
  const { method, params } = JSON.parse(String(body)) as { readonly method: string; readonly params?: unknown };
  const name = nameOf(method, params);
  counts.set(name, (counts.get(name) ?? 0) + 1);
});

process.on('message', () => process.send?.(Object.fromEntries(counts)));
process.channel?.unref(); // it doesn't keep the process alive
