import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbeddedCluster } from '../../../../src/localnet/embedded-cluster.ts';
import { WALLETS } from '../../../../src/localnet/traffic/demo-accounts.ts';
import { startGateway, waitFor } from '../../../support/harness.ts';
import { withTestScope } from '../../../support/test-scope.ts';
import {
  expectNone,
  expectSome,
  expectWithinMs,
  type Finding,
  info,
  type Row,
  type RunLength,
} from '../../findings.ts';
import { halfOpen, reset } from '../proxy/connection-faults.ts';
import { FaultProxy } from '../proxy/fault-proxy.ts';

/** Milliseconds between two outages that end at another phase of the pauses between attempts. */
const PHASE_MS = 330;

/** The way to a feed is lost, by resets and in silence, and is there again before the feed forgets what it missed. */
async function run(runLength: RunLength): Promise<readonly Finding[]> {
  const [outageMs, outages] = runLength.isFull ? [30_000, 4] : [3000, 1];
  return withTestScope(async (scope) => {
    const cluster = await startEmbeddedCluster({ transactionsPerSlot: 4, geyserPort: 0 });
    scope.teardown(() => cluster.close());
    const proxy = await FaultProxy.start(Number(new URL(cluster.geyserUrl ?? '').port));
    scope.teardown(() => proxy.close());
    const { get } = await startGateway(scope, [`${cluster.url},${cluster.wsUrl}`], {
      geyser: `http://127.0.0.1:${proxy.port}`,
      random: Math.random,
    });
    const feed = async () => (await get('/health')).json.result?.geyser;
    const isCurrent = async (): Promise<boolean> => {
      for (const { address } of WALLETS.slice(0, 5)) await get(`/balance/${address}`);
      const found = await feed();
      return found?.status === 'up' && found.accounts > 0 && found.behindSlots === 0;
    };
    await waitFor(isCurrent, 'the feed');
    const currentMs: number[] = [];
    let [behind, down] = [0, 0];
    for (const [fault, hidesEnds] of [
      [reset, false],
      [halfOpen, true],
    ] as const)
      for (let i = 0; i < outages; i++) {
        proxy.apply(fault, { hidesEnds });
        await sleep(outageMs + i * PHASE_MS);
        const found = await feed();
        behind += found?.behindSlots ?? 0;
        if (found?.status !== 'up') down++;
        proxy.heal();
        const healedMs = performance.now();
        await waitFor(isCurrent, 'current claims');
        currentMs.push(performance.now() - healedMs);
      }
    const found = await feed();
    return [
      info(`outages of ${outageMs / 1000} s`, currentMs.length),
      expectSome('slots behind at their ends', behind),
      expectNone('feeds given up', down),
      info('connections', found?.reconnects ?? 0),
      expectNone('gaps', found?.gaps ?? 0),
      expectWithinMs(runLength, 'current after', Math.max(...currentMs), 3000),
    ];
  });
}

export const feedOutage: Row = { id: 'feed-outage', title: 'a Geyser feed that cannot be reached for a while', run };
