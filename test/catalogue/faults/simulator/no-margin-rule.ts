import { doubleRead, type InitialSync } from '../../../../src/live/initial-sync.ts';

/** The rule for one node, in a pool of them. It shows that the checks can fail. */
export const noMarginRule: InitialSync = (stage, step) =>
  doubleRead(stage, step.name === 'acknowledged' ? { ...step, isPooled: false } : step);
