import { doubleRead, type InitialSync } from '../../../../src/gateway/live/initial-sync.ts';
import type { LiveAccounts } from '../../../../src/gateway/routes/routing/route.ts';
import type { PubsubSession } from '../../../../src/gateway/upstream/pubsub/pubsub-session.ts';
import { parseAccountLamports } from '../../../../src/gateway/upstream/reads/account-info.ts';
import { combinedLease } from '../../../../src/shared/domain/lease.ts';
import type { ScheduleOptions } from './random-schedule.ts';

/** The plausible but wrong initial-sync rule, an acknowledgement and one read. */
const singleReadRule: InitialSync = (stage, step) => {
  if (stage.name === 'subscribing' && step.name === 'acknowledged') return { name: 'first-read', marginSlots: 0 };
  return stage.name === 'first-read' && step.name === 'read' ? { name: 'synced' } : stage;
};

/** The initial-sync rule for a single node, used for a pool. */
const noMarginRule: InitialSync = (stage, step) =>
  doubleRead(stage, step.name === 'acknowledged' ? { ...step, marginSlots: 0 } : step);

/** Drops account notifications of a session, as if program notifications sufficed for a token list. */
function withoutAccountNotifications(session: PubsubSession): PubsubSession {
  const subscribe = session.subscribe.bind(session);
  return Object.assign(session, {
    subscribe(...[method, params, handler]: Parameters<PubsubSession['subscribe']>) {
      return subscribe(
        method,
        params,
        method === 'accountSubscribe' ? { ...handler, onNotification: () => {} } : handler,
      );
    },
  });
}

/** Reports of each Clock update that its bank follows the one before, as if a node notified each bank. */
function withoutGaps(session: PubsubSession): PubsubSession {
  const onClockUpdate = session.onClockUpdate.bind(session);
  return Object.assign(session, {
    onClockUpdate(...[commitment, listener]: Parameters<PubsubSession['onClockUpdate']>) {
      return onClockUpdate(commitment, (update) => listener({ ...update, isNextBank: update.previous !== undefined }));
    },
  });
}

/** Reads several balances one by one and dates them at the oldest of their slots, whether they held at that slot or not. */
const withoutCommonSlot = (liveAccounts: LiveAccounts): LiveAccounts => ({
  readTo: (query, waiter) => liveAccounts.readTo(query, waiter),
  read: (query) => liveAccounts.read(query),
  readLive: (query) => liveAccounts.readLive(query),
  readLiveBalances: () => undefined,
  async readBalances({ addresses, ...options }) {
    const reads = await Promise.all(
      addresses.map((address) => liveAccounts.read({ address, shape: 'lamports', ...options })),
    );
    const leases = reads.flatMap(({ lease }) => lease ?? []);
    return {
      slot: Math.min(...reads.map(({ slot }) => slot)),
      lamports: reads.map(({ account }) => (account === null ? 0n : parseAccountLamports(account))),
      lease: leases.length === reads.length ? combinedLease(leases) : undefined,
    };
  },
});

/** Connections that hold and have room for all, so that most is live. */
export const ROOMY = { places: 40, maxListMembers: 10, lossRate: 0 } as const;

const BALANCES = { ...ROOMY, listShare: 0, changeProbability: 0.2 } as const;

/** Weakened gateways whose false answers the simulator must find, in conditions in which each gives some per second. */
export const CONTROLS = {
  singleRead: {
    rule: singleReadRule,
    conditions: { ...BALANCES, changeProbability: 0.1, notificationRate: 0.3 },
  },
  poolAsOneNode: { pooled: true, rule: noMarginRule, conditions: { ...BALANCES, notificationRate: 0.1 } },
  withoutAccountNotifications: {
    listSession: withoutAccountNotifications,
    conditions: { ...ROOMY, listShare: 1, changeProbability: 0.05, notificationRate: 0.6 },
  },
  withoutGaps: {
    listSession: withoutGaps,
    conditions: { ...ROOMY, listShare: 1, changeProbability: 0.02, notificationRate: 0.7, gapRate: 0.2 },
  },
  withoutCommonSlot: { batches: true, liveAccounts: withoutCommonSlot, conditions: BALANCES },
} satisfies Record<string, ScheduleOptions>;
