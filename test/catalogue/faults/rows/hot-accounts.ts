import { setTimeout as sleep } from 'node:timers/promises';
import { expectBelow, type FaultRow, info } from '../../findings.ts';
import { type FaultTestbed, type FaultTestbedOptions, withFaultTestbed } from '../fault-testbed.ts';
import { answerFindings } from './answer-findings.ts';

const ACCOUNTS = 10_000;
const RATE = 4000;
const AUDIT_MS = 30_000;
/** Maximum number of accounts in one getMultipleAccounts. */
const BATCH = 100;

const TESTBED: FaultTestbedOptions = {
  nodes: 1,
  plan: { maxUnchangedSlots: 1024 },
  load: { requestsPerSecond: RATE, hotAccounts: ACCOUNTS, commitments: ['confirmed'], coldEvery: 0 },
  verifyEvery: 1000,
};
const settingsFor = (accounts: number): readonly string[] => [
  `watch.accounts=${accounts}`,
  `watch.auditMs=${AUDIT_MS}`,
  'upstream.subscriptions=1000',
];

/** Cost of many accounts that are read all the time. */
export const hotAccounts: FaultRow = {
  id: 'hot',
  title: `${ACCOUNTS.toLocaleString('en')} hot accounts read at ${RATE.toLocaleString('en')} requests/s`,
  async run(runLength) {
    const ms = runLength.isFull ? 60_000 : 30_000;
    const unwatched = await withFaultTestbed({ ...TESTBED, set: settingsFor(0) }, async (testbed) => {
      await sleep(5000);
      return (await measure(testbed, 10_000)).reads;
    });
    return withFaultTestbed({ ...TESTBED, set: settingsFor(12_000) }, async (testbed) => {
      await testbed.waitUntil(
        async () => ((await testbed.nodes[0]?.counts())?.['subscribed'] ?? 0) >= ACCOUNTS,
        60_000,
      );
      await sleep(5000); // until they are synced
      testbed.load.takeTally();
      const { reads, others } = await measure(testbed, ms);
      const tally = testbed.load.takeTally();
      const audit = Math.ceil(ACCOUNTS / BATCH) / (AUDIT_MS / 1000);
      return [
        ...answerFindings(tally),
        info('requests/s answered', tally.answered / tally.seconds),
        info('account reads upstream before, 1/s', unwatched),
        info('of the audit', audit),
        expectBelow(runLength, 'after', reads, 1.3 * audit, ' 1/s'),
        info('all else (slots, epoch, fees)', others),
      ];
    });
  },
};

/** Measures upstream requests per second. */
async function measure(
  { nodes }: FaultTestbed,
  ms: number,
): Promise<{ readonly reads: number; readonly others: number }> {
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
