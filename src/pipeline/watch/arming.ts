import type { Slot } from '../../domain/answer.ts';

/** How far an account on a connection has come on its way to being kept live. */
export type Stage =
  | { readonly name: 'subscribing' }
  | { readonly name: 'first-read' }
  | { readonly name: 'beacon'; readonly after: Slot }
  | { readonly name: 'second-read'; readonly atLeast: Slot }
  | { readonly name: 'live' };

/** What moves it on. All are told in the order of the connection. */
export type Step =
  | { readonly name: 'acknowledged' }
  | { readonly name: 'read'; readonly slot: Slot }
  | { readonly name: 'beacon'; readonly slot: Slot };

/** Says what a step leads to. Pure, so that a rule can be tried against every schedule. */
export type ArmingRule = (stage: Stage, step: Step) => Stage;

export const SUBSCRIBING: Stage = { name: 'subscribing' };

/**
 * When silence may be taken for "unchanged". A node acknowledges a subscription before it takes its baseline: changes
 * in between are never told. So it is read again, once a beacon behind the first reading has shown that the
 * subscription is through the node's queue.
 */
export const twoReads: ArmingRule = (stage, step) => {
  if (stage.name === 'subscribing' && step.name === 'acknowledged') return { name: 'first-read' };
  if (stage.name === 'first-read' && step.name === 'read') return { name: 'beacon', after: step.slot };
  if (stage.name === 'beacon' && step.name === 'beacon' && step.slot > stage.after) {
    return { name: 'second-read', atLeast: step.slot };
  }
  if (stage.name === 'second-read' && step.name === 'read' && step.slot >= stage.atLeast) return { name: 'live' };
  return stage;
};
