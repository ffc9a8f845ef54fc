import { type ChildProgram, waitUntilListening } from '../../../support/child-process.ts';
import { createReceiptKey } from '../../../support/receipts/receipt-key.ts';
import { expect, type Finding, type Row } from '../../findings.ts';
import { withFleet } from '../fleet-testbed.ts';

const refusal = async (label: string, child: ChildProgram, reason: RegExp): Promise<Finding> => {
  const code = await child.exit();
  return expect(`${label}: exit 78`, code === 78 && reason.test(child.stderr() + child.stdout()));
};

export const unlikeGateways: Row = {
  id: 'unlike-gateways',
  title: 'a gateway with another receipt key, a Redis that evicts, a wrong password',
  async run() {
    const ofKey = await withFleet(async ({ start, run, cluster }) => {
      await start('a');
      const refused = await refusal('another key', await run('b', { key: createReceiptKey() }), /one receipt key/);
      const refusedLate: Finding[] = [];
      for (const [name, count] of [
        ['late', 0],
        ['late with workers', 2],
      ] as const) {
        cluster.process.kill('SIGSTOP'); // the port opens without a node, and the first one comes later
        const set = ['upstreamPolicy.startTimeoutMs=200', `workers.count=${count}`];
        const late = await run(name.replaceAll(' ', '-'), { key: createReceiptKey(), set });
        await waitUntilListening(late);
        cluster.process.kill('SIGCONT');
        refusedLate.push(await refusal(`another key, ${name}`, late, /one receipt key/));
      }
      const { get } = await start('c');
      return [refused, ...refusedLate, expect('the same key is accepted', (await get('/slot')).status === 200)];
    });
    const ofStore = await withFleet(
      async ({ redis, run }) => {
        const evicting = await refusal('evicting Redis', await run('a'), /noeviction/);
        await redis.command('CONFIG', 'SET', 'requirepass', 'secret');
        return [evicting, await refusal('no password', await run('b'), /NOAUTH/)];
      },
      ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'],
    );
    return [...ofKey, ...ofStore];
  },
};
