import { setTimeout as sleep } from 'node:timers/promises';
import { hasLed } from '../../../support/fleet-gateway.ts';
import { waitFor } from '../../../support/harness.ts';
import { expect, expectNone, expectSome, expectWithinMs, type Row } from '../../findings.ts';
import { ExactReaders } from '../exact-readers.ts';
import { type FleetGateway, withFleet } from '../fleet-testbed.ts';

export const leaderKilled: Row = {
  id: 'leader-killed',
  title: 'F3, F7: the leading gateway killed, stopped, and without Redis',
  run: (runLength) =>
    withFleet(async ({ redis, start }) => {
      const gateways: FleetGateway[] = await Promise.all([start('a'), start('b')]);
      await waitFor(() => gateways.some(({ child }) => hasLed(child)), 'a leader');
      const readers = new ExactReaders(gateways);
      await readers.readUntilExact();
      for (let i = 0; i < 40; i++) await readers.readAll();

      const failovers: number[] = [];
      for (const signal of runLength.isFull ? (['SIGKILL', 'SIGSTOP', 'SIGKILL'] as const) : (['SIGKILL'] as const)) {
        const leader = gateways.find(({ child }) => hasLed(child));
        if (leader === undefined) throw new Error('nobody leads');
        gateways.splice(gateways.indexOf(leader), 1);
        const next = gateways[0];
        const sinceMs = performance.now();
        leader.child.process.kill(signal);
        await waitFor(() => next !== undefined && hasLed(next.child), 'the next leader');
        failovers.push(performance.now() - sinceMs);
        if (signal === 'SIGSTOP') leader.child.process.kill('SIGCONT');
        await readers.readUntilExact();
        gateways.push(await start(`after-${failovers.length}`));
      }

      await redis.signal('SIGSTOP');
      await sleep(1500);
      const exactAlone = await readers.readAll();
      await redis.signal('SIGCONT');
      await readers.readUntilExact();
      return [
        ...readers.findings(),
        expectSome('changes of leader', failovers.length),
        expectWithinMs(runLength, 'next leader', Math.max(...failovers), 2000),
        expectNone('exact without Redis', exactAlone),
        expect('F14: no address in Redis', !/127\.0\.0\.1|2130706433/.test(await redis.contents())),
      ];
    }),
};
