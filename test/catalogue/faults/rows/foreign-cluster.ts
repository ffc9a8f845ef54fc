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
  run: (pace) =>
    withFaultTestbed({ load: { requestsPerSecond: 500 } }, async (stage) => {
      const { load, nodes } = stage;
      await sleep(2000);
      load.takeTally();
      await stage.kill(0);
      await stage.restart(0, { genesis: OTHER_GENESIS, originMs: stage.chain.parameters.originMs - 4000 });
      await stage.waitUntil(() => stage.gateway.child.stdout().includes('is of another cluster'), 10_000);
      await sleep(5000);
      const { getGenesisHash = 0, ...asked } = (await nodes[0]?.counts()) ?? {};
      const [first] = (await stage.health()).upstreams;
      const tally = load.takeTally();

      const alone = await GatewayProcess.start(nodes.slice(0, 1).map(upstreamOnPort), [
        `cluster=${stage.chain.parameters.genesis}`,
        'upstream.startMs=1000',
      ]);
      const code = await alone.child.exit();
      const reason = alone.child.stdout();
      await alone.close();
      return [
        ...answerFindings(tally),
        expectFewFailures(pace, tally),
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
