import t from 'tap';
import { RequestCost } from '../../../src/domain/request-cost.ts';
import { unitsOfUpstream } from '../../../src/domain/units.ts';
import type { PriceAsOf } from '../../../src/prices/price-source.ts';
import type { HoldersQuery, HolderTable } from '../../../src/routing/holder-tables.ts';
import { contextForRequest } from '../../../src/routing/request-context.ts';
import type { RouteContext } from '../../../src/routing/route.ts';
import type { StakeQuery } from '../../../src/routing/stake-accounts.ts';
import type { TokenListQuery } from '../../../src/tokens/token-list.ts';
import type { AccountQuery, BalancesQuery } from '../../../src/upstream/reads/account-batcher.ts';
import type { CallOptions } from '../../../src/upstream/rpc/rpc-response.ts';

t.test('whatever a route reads names the request that it counts for', async (t) => {
  const seen: [what: string, cost: RequestCost | undefined][] = [];
  const see = async (what: string, cost: RequestCost | undefined) => {
    seen.push([what, cost]);
    return { slot: 1, result: Buffer.from('1'), value: Buffer.from('1') };
  };
  const accounts = {
    read: ({ cost }: AccountQuery) => see('read', cost),
    readBalances: ({ cost }: BalancesQuery) => see('readBalances', cost),
    subscribe: () => () => {},
  };
  const all = {
    mesh: { call: (_: string, __: unknown, options: CallOptions = {}) => see('call', options.cost), tip: () => 9 },
    accounts,
    liveAccounts: accounts,
    tokenLists: { read: ({ cost }: TokenListQuery) => see('tokenLists', cost) },
    holderTables: {
      get: () => undefined,
      getOrRead: (_: HoldersQuery, __: () => Promise<HolderTable>, cost?: RequestCost) => see('getOrRead', cost),
    },
    stakeTables: { getOrScan: (_: StakeQuery, __: unknown, cost?: RequestCost) => see('getOrScan', cost) },
    knownMints: { findVerified: (_: readonly string[], cost?: RequestCost) => see('findVerified', cost) },
    prices: { source: 'none', maxAgeSec: 1, find: (_: readonly string[], { cost }: PriceAsOf) => see('find', cost) },
    version: '1',
  } as unknown as RouteContext; // the members that the test uses

  const cost = new RequestCost('me', true);
  const bound = contextForRequest(all, cost);
  const at = { commitment: 'confirmed', minContextSlot: undefined } as const;
  await bound.mesh.call('getProgramAccounts', []);
  for (const source of [bound.accounts, bound.liveAccounts]) {
    await source.read({ address: 'a', shape: 'lamports', ...at });
    await source.readBalances({ addresses: ['a'], ...at });
  }
  await bound.tokenLists.read({ owner: 'a', ...at });
  await bound.holderTables.getOrRead({ mint: 'm', minSlot: 0 }, () => Promise.reject(new Error('not called')));
  await bound.stakeTables.getOrScan({ withdrawer: 'w', oldestSlot: 0 }, () => Promise.reject(new Error('not called')));
  await bound.knownMints.findVerified(['m']);
  await bound.prices.find(['m'], { commitment: 'confirmed', slot: 1 });
  t.same(
    seen.map(([what]) => what),
    [
      'call',
      'read',
      'readBalances',
      'read',
      'readBalances',
      'tokenLists',
      'getOrRead',
      'getOrScan',
      'findVerified',
      'find',
    ],
  );
  t.ok(seen.every(([, each]) => each === cost));
  t.equal(bound.version, '1');
  t.equal(bound.mesh.tip('confirmed'), 9);
});

t.test('each read of a transaction counts for its length, kept or not', async (t) => {
  const record = Buffer.alloc(150 * 1024);
  const transactionRecords = {
    read: async () => ({ slot: 1, record }),
    readAll: async () => [
      { slot: 1, record },
      { slot: 1, record: null },
      { slot: 1, record: record.subarray(0, 1) },
    ],
  };
  const cost = new RequestCost('me', true);
  const mesh = { call: () => {} };
  const bound = contextForRequest({ mesh, transactionRecords } as unknown as RouteContext, cost); // what the test uses
  const at = { commitment: 'confirmed', minSlot: undefined } as const;
  await bound.transactionRecords.read(bound.mesh, { signature: 's', slot: undefined }, at);
  t.equal(cost.rows, 150);
  t.equal(unitsOfUpstream(cost), 1);
  await bound.transactionRecords.readAll(bound.mesh, [], at);
  t.equal(cost.rows, 301);
});
