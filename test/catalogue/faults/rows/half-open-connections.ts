import { setTimeout as sleep } from 'node:timers/promises';
import { expectWithinMs, type FaultRow } from '../../findings.ts';
import { withFaultTestbed } from '../fault-testbed.ts';
import { halfOpen as lost } from '../proxy/connection-faults.ts';
import { answerFindings, expectFewFailures } from './answer-findings.ts';

const HIDDEN = { hidesEnds: true };

/** Connections whose other end disappeared without FIN or RST. */
export const halfOpenConnections: FaultRow = {
  id: '29',
  title: 'half-open connections, each node in turn',
  run: (runLength) =>
    withFaultTestbed({ proxied: true }, async (testbed) => {
      const { load, proxies } = testbed;
      await sleep(4000);
      load.takeTally();
      const noticedMs: number[] = [];
      const movedMs: number[] = [];
      for (const [index, proxy] of proxies.entries()) {
        const before = await testbed.nodes[1 - index]?.counts();
        proxy.apply(lost, HIDDEN);
        const beganMs = performance.now();
        noticedMs.push(await testbed.waitUntilNode(index, ({ ws }) => ws === 'down'));
        // All hot accounts are subscribed at the other node, with its Clock subscriptions.
        await testbed.waitUntil(async () => {
          const { subscribed = 0 } = (await testbed.nodes[1 - index]?.counts()) ?? {};
          return subscribed >= Math.max(before?.['subscribed'] ?? 0, 2 * load.hotAccounts.length);
        });
        movedMs.push(performance.now() - beganMs);
        proxy.heal();
        await testbed.waitUntilNode(index, ({ status, ws }) => status === 'ok' && ws === 'up');
        await sleep(2000);
      }
      const tally = load.takeTally();
      return [
        ...answerFindings(tally),
        expectFewFailures(runLength, tally),
        expectWithinMs(runLength, 'noticed after', Math.max(...noticedMs), 3000),
        expectWithinMs(runLength, 'subscribed elsewhere after', Math.max(...movedMs), 4000),
      ];
    }),
};
