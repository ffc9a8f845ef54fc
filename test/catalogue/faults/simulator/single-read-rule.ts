import type { InitialSync } from '../../../../src/live/initial-sync.ts';

/**
 * The plausible but wrong initial-sync rule, an acknowledgement and one read: a control that the simulator must catch.
 */
export const singleReadRule: InitialSync = (stage, step) => {
  if (stage.name === 'subscribing' && step.name === 'acknowledged') return { name: 'first-read', marginSlots: 0 };
  return stage.name === 'first-read' && step.name === 'read' ? { name: 'synced' } : stage;
};
