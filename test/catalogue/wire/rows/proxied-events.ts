import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbeddedCluster } from '../../../../src/localnet/embedded-cluster.ts';
import { WALLETS } from '../../../../src/localnet/traffic/demo-accounts.ts';
import { isAfter, parseEventId } from '../../../../src/shared/domain/event-id.ts';
import { startGateway, waitFor } from '../../../support/harness.ts';
import { ResumingClient, type TrustedGateway } from '../../../support/resuming-client.ts';
import { withTestScope } from '../../../support/test-scope.ts';
import { expectNone, expectSome, type Finding, info } from '../../findings.ts';
import { HAPROXY, isInstalled, NGINX, type ReverseProxy, startProxy } from '../reverse-proxy.ts';
import { countFor, expectBelowWhenQuiet, type RunLength, type WireRow } from '../wire-row.ts';

const ADDRESSES = WALLETS.slice(0, 5).map(({ address }) => address);
/** Events of which the way through the proxy is timed. */
const TIMED = 20;

export const proxiedEvents: WireRow = {
  id: 'proxied-events',
  title: 'Server-Sent Events through proxies, cut off and resumed',
  run: (_, runLength) =>
    withTestScope(async (scope) => {
      const cluster = await startEmbeddedCluster({ transactionsPerSlot: 6, geyserPort: 0 });
      scope.teardown(() => cluster.close());
      const { gateway, get } = await startGateway(scope, [`${cluster.url},${cluster.wsUrl}`], {
        geyser: cluster.geyserUrl,
        set: ['limits.free.streams=1000', 'limits.free.units=1000000'],
      });
      await waitFor(async () => (await get('/health')).json.result?.geyser?.status === 'up', 'the feed');
      const findings: Finding[] = [];
      for (const kind of [NGINX, HAPROXY]) {
        if (!isInstalled(kind)) findings.push(info(kind.name, 'is not at hand'));
        else findings.push(...(await followThrough(kind, gateway, runLength)));
      }
      return findings;
    }),
};

/** Compares what arrives through a proxy, over connections that are cut, with what the gateway sends. */
async function followThrough(
  kind: ReverseProxy,
  gateway: TrustedGateway,
  runLength: RunLength,
): Promise<readonly Finding[]> {
  const cuts = countFor(runLength, 5, 20, 200);
  const proxy = await startProxy(kind, new URL(gateway.url).host);
  const [direct, proxied] = [new ResumingClient(ADDRESSES), new ResumingClient(ADDRESSES)];
  await Promise.all([direct.connect(gateway), proxied.connect({ ...gateway, url: proxy.url })]);
  const hasBegun = (): boolean => {
    for (const client of [direct, proxied]) client.handle();
    return direct.slot >= 0 && proxied.slot >= 0;
  };
  await waitFor(hasBegun, 'the first mark');
  const from = Math.max(direct.slot, proxied.slot);
  const [seenMs, laterMs] = [new Map<string, number>(), [] as number[]];
  const time = (): boolean => {
    direct.handle();
    for (const id of direct.changes.keys()) if (!seenMs.has(id)) seenMs.set(id, performance.now());
    const known = proxied.changes.size;
    proxied.handle();
    for (const id of [...proxied.changes.keys()].slice(known)) {
      const ms = seenMs.get(id);
      if (ms !== undefined) laterMs.push(performance.now() - ms);
    }
    return laterMs.length >= TIMED;
  };
  await waitFor(time, 'events');
  for (let i = 0; i < cuts; i++) {
    await sleep(100 + 37 * (i % 11));
    proxied.handle(i % 4);
    proxied.cut();
    await proxied.connect({ ...gateway, url: proxy.url });
  }
  direct.handle();
  const sent = [...direct.changes].filter(([, { slot }]) => slot > from);
  const until = direct.lastId;
  await waitFor(() => {
    proxied.handle();
    return isReached(until, proxied.lastId);
  }, 'what was missed');
  const lost = sent.filter(([id, { lamports }]) => proxied.changes.get(id)?.lamports !== lamports).length;
  for (const client of [direct, proxied]) client.cut();
  await proxy.close();
  return [
    info(`${kind.name}: cuts`, cuts),
    expectSome('events', sent.length),
    expectNone('lost', lost),
    expectNone('doubled', proxied.doubled),
    expectNone('reordered', proxied.reordered),
    expectNone('gaps', proxied.gaps.length),
    expectBelowWhenQuiet(runLength, 'later by', Math.max(...laterMs), 500, ' ms'),
  ];
}

/** Whether a client that has received one id last is at the other. The changes of a slot arrive one after the other. */
function isReached(id: string, last: string): boolean {
  const [wanted, received] = [parseEventId(id), parseEventId(last)];
  return wanted !== undefined && received !== undefined && !isAfter(wanted, received);
}
