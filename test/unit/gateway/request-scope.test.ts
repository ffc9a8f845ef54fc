import t from 'tap';
import { requesterOf } from '../../../src/gateway/routes/routing/request-scope.ts';
import type { RouteContext } from '../../../src/gateway/routes/routing/route.ts';
import { countRows, GATEWAY_CALLER, RequestCost } from '../../../src/shared/domain/units.ts';

/** Does not run. The build fails where a line compiles although its read names no request that it counts for. */
export function forget(context: RouteContext, read: () => never): void {
  const at = { commitment: 'confirmed', minContextSlot: undefined } as const;
  // @ts-expect-error
  context.mesh.call('getSlot', []);
  // @ts-expect-error
  context.callsFor();
  // @ts-expect-error
  context.accounts.read({ address: 'a', shape: 'lamports', ...at });
  // @ts-expect-error
  context.accounts.readBalances({ addresses: ['a'], ...at });
  // @ts-expect-error
  context.liveAccounts.read({ address: 'a', shape: 'lamports', ...at });
  // @ts-expect-error
  context.liveAccounts.readBalances({ addresses: ['a'], ...at });
  // @ts-expect-error
  context.tokenLists.read({ owner: 'a', ...at });
  // @ts-expect-error
  context.holderTables.getOrRead({ mint: 'm', minSlot: 0 }, read);
  // @ts-expect-error
  context.stakeTables.getOrScan({ withdrawer: 'w', oldestSlot: 0 }, read);
  // @ts-expect-error
  context.knownMints.findVerified(['m']);
  // @ts-expect-error
  context.tokenLabels.find(['m'], { rpc: context.callsFor({ cost: undefined }) }, at);
  // @ts-expect-error
  context.prices.find(['m'], { commitment: 'confirmed', slot: 1 });
  // @ts-expect-error
  context.transactionRecords.read(context.callsFor({ cost: undefined }), { signature: 's', slot: 1 }, at);
  // @ts-expect-error
  context.decoder.explain(Buffer.from('{}'));
}

t.test('rows count for the request of a scope, which waits for a thread', async (t) => {
  const cost = new RequestCost('me', true);
  const { signal } = new AbortController();
  countRows({ cost }, 3);
  countRows({ cost: undefined }, 3);
  t.equal(cost.rows, 3);
  t.same(requesterOf({ cost, signal }), { caller: 'me', signal });
  t.same(requesterOf({ cost: undefined, signal }), { caller: GATEWAY_CALLER }, 'work of the gateway itself');
});
