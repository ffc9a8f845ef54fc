import { setTimeout as sleep } from 'node:timers/promises';
import { below, type Row, shown } from '../../row.ts';
import { onStage, type Stage, type StageOptions } from '../stage.ts';
import { truthOf } from './truth.ts';

const ACCOUNTS = 10_000;
const RATE = 4000;
const AUDIT_MS = 30_000;
/** A node takes no more keys in one getMultipleAccounts. */
const BATCH = 100;

const STAGE: StageOptions = {
  nodes: 1,
  plan: { calmSlots: 1024 },
  load: { rate: RATE, hot: ACCOUNTS, commitments: ['confirmed'], cold: 0 },
  verifyEvery: 1000,
};
const setting = (accounts: number): readonly string[] => [
  `watch.accounts=${accounts}`,
  `watch.auditMs=${AUDIT_MS}`,
  'upstream.subscriptions=1000',
];

/** What many accounts cost that are read all the time. */
export const hot: Row = {
  id: 'hot',
  what: `${ACCOUNTS.toLocaleString('en')} hot accounts read at ${RATE.toLocaleString('en')} requests/s`,
  async run(pace) {
    const ms = pace.isFull ? 60_000 : 30_000;
    const unwatched = await onStage({ ...STAGE, set: setting(0) }, async (stage) => {
      await sleep(5000);
      return (await measure(stage, 10_000)).reads;
    });
    return onStage({ ...STAGE, set: setting(12_000) }, async (stage) => {
      await stage.until(async () => ((await stage.nodes[0]?.counts())?.['subscribed'] ?? 0) >= ACCOUNTS, 60_000);
      await sleep(5000); // until they are armed
      stage.load.take();
      const { reads, others } = await measure(stage, ms);
      const tally = stage.load.take();
      const audit = Math.ceil(ACCOUNTS / BATCH) / (AUDIT_MS / 1000);
      return [
        ...truthOf(tally),
        shown('requests/s answered', tally.answered / tally.seconds),
        shown('account reads upstream before, 1/s', unwatched),
        shown('of the audit', audit),
        below(pace, 'after', reads, 1.3 * audit, ' 1/s'),
        shown('all else (slots, epoch, fees)', others),
      ];
    });
  },
};

/** Upstream requests a second. */
async function measure({ nodes }: Stage, ms: number): Promise<{ readonly reads: number; readonly others: number }> {
  const counts = async () => {
    const { subscribed: _, ...counts } = (await nodes[0]?.counts()) ?? {};
    return counts;
  };
  const before = await counts();
  await sleep(ms);
  const after = await counts();
  const rate = (method: string): number => (((after[method] ?? 0) - (before[method] ?? 0)) * 1000) / ms;
  const others = Object.keys(after).filter((method) => method !== 'getMultipleAccounts');
  return { reads: rate('getMultipleAccounts'), others: others.reduce((sum, method) => sum + rate(method), 0) };
}
