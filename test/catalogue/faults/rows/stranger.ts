import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayProcess, onPort } from '../../../support/gateway-process.ts';
import { holds, none, type Row } from '../../row.ts';
import { onStage } from '../stage.ts';
import { fewFailed, truthOf } from './truth.ts';

const OTHER = '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY';

/** A node of another cluster, at the start and in place of one that was right. */
export const stranger: Row = {
  id: '34',
  what: 'one of two nodes comes back with another genesis, another chain',
  run: (pace) =>
    onStage({ load: { rate: 500 } }, async (stage) => {
      const { load, nodes } = stage;
      await sleep(2000);
      load.take();
      await stage.kill(0);
      await stage.restart(0, { genesis: OTHER, originMs: stage.chain.plan.originMs - 4000 });
      await stage.until(() => stage.gateway.child.out().includes('is of another cluster'), 10_000);
      await sleep(5000);
      const { getGenesisHash = 0, ...asked } = (await nodes[0]?.counts()) ?? {};
      const [first] = (await stage.health()).upstreams;
      const tally = load.take();

      const alone = await GatewayProcess.start(nodes.slice(0, 1).map(onPort), [
        `cluster=${stage.chain.plan.genesis}`,
        'upstream.startMs=1000',
      ]);
      const code = await alone.child.ended();
      const reason = alone.child.out();
      await alone.close();
      return [
        ...truthOf(tally),
        fewFailed(pace, tally),
        holds(`it is ${first?.status}`, first?.status === 'down'),
        holds('asked for its genesis hash', getGenesisHash > 0),
        none(
          'for anything else, and subscriptions',
          Object.values(asked).reduce((sum, count) => sum + count, 0),
        ),
        holds(`a gateway over it alone exits with ${code}`, code === 1 && reason.includes('another cluster')),
      ];
    }),
};
