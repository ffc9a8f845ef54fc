import { noMarginRule } from './no-margin-rule.ts';
import type { ScheduleOptions } from './random-schedule.ts';
import { singleReadRule } from './single-read-rule.ts';
import { withoutAccountNotifications } from './without-account-notifications.ts';
import { withoutCommonSlot } from './without-common-slot.ts';
import { withoutGaps } from './without-gaps.ts';

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
