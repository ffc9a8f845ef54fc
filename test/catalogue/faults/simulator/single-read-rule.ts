import type { InitialSync } from '../../../../src/live/initial-sync.ts';

/** The rule that looks right and is not: an acknowledgement and one reading. It shows that the checks can fail. */
export const singleReadRule: InitialSync = (stage, step) => {
  if (stage.name === 'subscribing' && step.name === 'acknowledged') return { name: 'first-read', marginSlots: 0 };
  return stage.name === 'first-read' && step.name === 'read' ? { name: 'synced' } : stage;
};
