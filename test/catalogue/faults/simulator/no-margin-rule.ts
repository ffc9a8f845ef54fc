import { doubleRead, type InitialSync } from '../../../../src/live/initial-sync.ts';

/** The initial-sync rule for a single node, used for a pool: a control that the simulator must catch. */
export const noMarginRule: InitialSync = (stage, step) =>
  doubleRead(stage, step.name === 'acknowledged' ? { ...step, isPooled: false } : step);
