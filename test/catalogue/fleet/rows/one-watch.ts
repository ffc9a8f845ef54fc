import { setTimeout as sleep } from 'node:timers/promises';
import { WALLETS } from '../../../../src/localnet/traffic/demo-accounts.ts';
import { waitFor } from '../../../support/harness.ts';
import { expect, expectNone, expectSome, expectWithinMs, type FaultRow, info } from '../../findings.ts';
import { type FleetGateway, withFleet } from '../fleet-testbed.ts';

const TARGETS = [
  ...WALLETS.slice(0, 4).map(({ address }) => `/balance/${address}`),
  `/token-accounts/${WALLETS[0]?.address}`,
];

/** The time without a newer slot that callers may see when the leader is gone, in milliseconds. */
const MAX_GAP_MS = 2500;

/** Slots that are long beside the delays of a busy machine: what is some slots behind is not followed. */
const SLOT_MS = 200;

/** The time after which Redis is used again that was gone. */
const MAX_RESYNC_MS = 5000;

/** Tells whether a gateway follows its node itself. */
const webSocketOf = async ({ get }: FleetGateway): Promise<string> =>
  (await get('/health')).json.result.upstreams[0].ws;

/** One gateway subscribes, and the others follow it: through the death of the one, its stop, and that of Redis. */
export const oneWatch: FaultRow = {
  id: 'one-watch',
  title: 'F9, F10: one set of subscriptions for all gateways; the leader killed, stopped, and all without Redis',
  run: (runLength) =>
    withFleet(
      async ({ redis, start }) => {
        const gateways: FleetGateway[] = await Promise.all(['a', 'b', 'c'].map((name) => start(name)));
        /** The newest slot that each gateway has told of each target, and the answers by target and slot. */
        const newest = new Map<string, number>();
        const answers = new Map<string, string>();
        const failures = new Set<string>();
        let reads = 0;
        let backwards = 0;
        let differing = 0;
        let longestGapMs = 0;
        const lastNewMs = new Map<string, number>();
        const readAll = async (): Promise<void> => {
          for (const gateway of gateways) {
            for (const target of TARGETS) {
              const { status, json } = await gateway.get(target).catch(() => ({ status: 0, json: undefined }));
              if (status !== 200) {
                failures.add(json?.error ?? 'no answer');
                continue;
              }
              reads++;
              const name = `${gateway.url}${target}`;
              const before = newest.get(name) ?? 0;
              if (json.slot < before) backwards++;
              if (json.slot > before) {
                const now = performance.now();
                longestGapMs = Math.max(longestGapMs, now - (lastNewMs.get(name) ?? now));
                lastNewMs.set(name, now);
                newest.set(name, json.slot);
              }
              const result = JSON.stringify(json.result);
              const point = `${target} ${json.slot}`;
              if ((answers.get(point) ?? result) !== result) differing++;
              answers.set(point, result);
            }
          }
        };
        const readFor = async (ms: number): Promise<void> => {
          for (const endMs = performance.now() + ms; performance.now() < endMs; ) {
            await readAll();
            await sleep(10);
          }
        };
        const countOf = async (state: string): Promise<number> =>
          (await Promise.all(gateways.map(webSocketOf))).filter((each) => each === state).length;
        const isShared = async (): Promise<boolean> => (await countOf('up')) === 1 && (await countOf('idle')) === 2;
        const untilShared = (): Promise<void> => waitFor(isShared, 'one set of subscriptions');

        await untilShared();
        await readFor(3000);
        longestGapMs = 0;
        lastNewMs.clear();
        await readFor(2000);
        const quietGapMs = longestGapMs;
        const gaps: number[] = [];
        for (const signal of runLength.isFull ? (['SIGKILL', 'SIGSTOP', 'SIGKILL'] as const) : (['SIGKILL'] as const)) {
          const states = await Promise.all(gateways.map(webSocketOf));
          const [leader] = gateways.splice(states.indexOf('up'), 1);
          longestGapMs = 0;
          lastNewMs.clear();
          await readAll();
          leader?.child.process.kill(signal);
          await readFor(6000);
          gaps.push(longestGapMs);
          if (signal === 'SIGSTOP') leader?.child.process.kill('SIGKILL');
          gateways.push(await start(`after-${gaps.length}`));
          await untilShared();
        }
        longestGapMs = 0;
        lastNewMs.clear();
        await redis.signal('SIGSTOP');
        await readFor(5000);
        const alone = await countOf('up');
        const gapAloneMs = longestGapMs;
        const sinceMs = performance.now();
        await redis.signal('SIGCONT');
        await untilShared();
        const sharedMs = performance.now() - sinceMs;
        await readFor(1000);
        return [
          info('reads', reads),
          expectSome('points of state that several told', answers.size),
          expectNone('slots back', backwards),
          expectNone('answers that differ', differing),
          info('longest time without a newer slot', `${Math.round(quietGapMs)} ms`),
          expectWithinMs(runLength, 'the same without the leader', Math.max(...gaps), MAX_GAP_MS),
          expectWithinMs(runLength, 'and without Redis', gapAloneMs, MAX_GAP_MS),
          expectWithinMs(runLength, 'shared again with Redis', sharedMs, MAX_RESYNC_MS),
          expect('each subscribes for itself without Redis', alone === gateways.length),
          expect(`no read failed ${[...failures].join(' ')}`.trim(), failures.size === 0),
        ];
      },
      [],
      SLOT_MS,
    ),
};
