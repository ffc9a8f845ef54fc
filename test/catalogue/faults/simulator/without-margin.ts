import { type ArmingRule, twoReads } from '../../../../src/live/arming.ts';

/** The rule for one node, in a pool of them. It shows that the checks can fail. */
export const withoutMargin: ArmingRule = (stage, step) =>
  twoReads(stage, step.name === 'acknowledged' ? { ...step, pooled: false } : step);
