import type { ArmingRule } from '../../../../src/live/arming.ts';

/** The rule that looks right and is not: an acknowledgement and one reading. It shows that the checks can fail. */
export const oneRead: ArmingRule = (stage, step) => {
  if (stage.name === 'subscribing' && step.name === 'acknowledged') return { name: 'first-read', margin: 0 };
  return stage.name === 'first-read' && step.name === 'read' ? { name: 'live' } : stage;
};
