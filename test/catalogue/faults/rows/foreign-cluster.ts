import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayProcess, upstreamOnPort } from '../../../support/gateway-process.ts';
import { expect, expectNone, type FaultRow } from '../../findings.ts';
import { withFaultTestbed } from '../fault-testbed.ts';
import { answerFindings, expectFewFailures } from './answer-findings.ts';

const OTHER_GENESIS = '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY';

/** A node of another cluster, at the start and in place of a correct one. */
export const foreignCluster: FaultRow = {
  id: '34',
  title: 'one of two nodes comes back with another genesis, another chain',
  run: (runLength) =>
    withFaultTestbed({ load: { requestsPerSecond: 500 } }, async (testbed) => {
      const { load, nodes } = testbed;
      await sleep(2000);
      load.takeTally();
      await testbed.kill(0);
      await testbed.restart(0, { genesis: OTHER_GENESIS, originMs: testbed.chain.parameters.originMs - 4000 });
      await testbed.waitUntil(() => testbed.gateway.child.stdout().includes('is of another cluster'), 10_000);
      await sleep(5000);
      const { getGenesisHash = 0, ...asked } = (await nodes[0]?.counts()) ?? {};
      const [first] = (await testbed.health()).upstreams;
      const tally = load.takeTally();

      const alone = await GatewayProcess.start(nodes.slice(0, 1).map(upstreamOnPort), [
        `cluster=${testbed.chain.parameters.genesis}`,
        'upstream.startMs=1000',
      ]);
      const code = await alone.child.exit();
      const reason = alone.child.stdout();
      await alone.close();
      return [
        ...answerFindings(tally),
        expectFewFailures(runLength, tally),
        expect(`it is ${first?.status}`, first?.status === 'down'),
        expect('asked for its genesis hash', getGenesisHash > 0),
        expectNone(
          'for anything else, and subscriptions',
          Object.values(asked).reduce((sum, count) => sum + count, 0),
        ),
        expect(`a gateway over it alone exits with ${code}`, code === 1 && reason.includes('another cluster')),
      ];
    }),
};
