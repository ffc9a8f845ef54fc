import { setTimeout as sleep } from 'node:timers/promises';
import { WALLETS } from '../../../../src/localnet/traffic/demo-accounts.ts';
import { waitFor } from '../../../support/harness.ts';
import { expect, expectNone, expectSome, expectWithinMs, type FaultRow, info } from '../../findings.ts';
import { type FleetGateway, withFleet } from '../fleet-testbed.ts';

const TARGET = `/balance/${WALLETS[0]?.address}?commitment=finalized`;
const LEADS = 'this gateway leads the fleet"';

/** SIGKILL and SIGSTOP of the gateway that alone may sign `exact`. */
export const leaderKilled: FaultRow = {
  id: '53',
  title: 'F3, F7: the leading gateway killed, stopped, and without Redis',
  run: (runLength) =>
    withFleet(async ({ redis, start }) => {
      const gateways: FleetGateway[] = await Promise.all([start('a'), start('b')]);
      await waitFor(() => gateways.some(({ hasTold }) => hasTold(LEADS)), 'a leader');
      /** Who has signed each slot exact. */
      const signers = new Map<number, Set<FleetGateway>>();
      let signedByTwo = 0;
      const failed = new Map<string, number>();
      const readAll = async (): Promise<number> => {
        let exact = 0;
        for (const gateway of gateways) {
          const { status, json } = await gateway.get(TARGET).catch(() => ({ status: 0, json: undefined }));
          const failure: string = status === 200 ? '' : (json?.error ?? 'no answer');
          if (failure !== '') failed.set(failure, (failed.get(failure) ?? 0) + 1);
          if (failure !== '' || !json.receipt.claim.startsWith('exact')) continue;
          exact++;
          const known = signers.get(json.slot) ?? new Set();
          signers.set(json.slot, known.add(gateway));
          if (known.size === 2) signedByTwo++;
        }
        return exact;
      };
      const readUntilExact = () => waitFor(async () => (await readAll()) > 0, 'an exact receipt');
      await readUntilExact();
      for (let i = 0; i < 40; i++) await readAll();

      const failovers: number[] = [];
      for (const signal of runLength.isFull ? (['SIGKILL', 'SIGSTOP', 'SIGKILL'] as const) : (['SIGKILL'] as const)) {
        const leader = gateways.find(({ hasTold }) => hasTold(LEADS));
        if (leader === undefined) throw new Error('nobody leads');
        gateways.splice(gateways.indexOf(leader), 1);
        const next = gateways[0];
        const sinceMs = performance.now();
        leader.child.process.kill(signal);
        await waitFor(() => next?.hasTold(LEADS) === true, 'the next leader');
        failovers.push(performance.now() - sinceMs);
        if (signal === 'SIGSTOP') leader.child.process.kill('SIGCONT');
        await readUntilExact();
        gateways.push(await start(`after-${failovers.length}`));
      }

      await redis.signal('SIGSTOP');
      await sleep(1500);
      const exactAlone = await readAll();
      await redis.signal('SIGCONT');
      await readUntilExact();
      return [
        info('slots signed exact', signers.size),
        expectNone('slots signed exact by two', signedByTwo),
        expectSome('changes of leader', failovers.length),
        expectWithinMs(runLength, 'next leader', Math.max(...failovers), 2000),
        expectNone('exact without Redis', exactAlone),
        expect(`no read failed ${[...failed].join(' ')}`.trim(), failed.size === 0),
        expect('F14: no address in Redis', !/127\.0\.0\.1|2130706433/.test(await redis.contents())),
      ];
    }),
};
