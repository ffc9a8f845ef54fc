import type { Slot } from '../domain/slot.ts';

/** How far an account on a connection has come on its way to being kept live. */
export type Stage =
  | { readonly name: 'subscribing' }
  | { readonly name: 'first-read'; readonly margin: number }
  | { readonly name: 'beacon'; readonly after: Slot }
  | { readonly name: 'second-read'; readonly atLeast: Slot }
  | { readonly name: 'live' };

/** What moves it on. All are told in the order of the connection; `pooled` says that reads may go to another node. */
export type Step =
  | { readonly name: 'acknowledged'; readonly pooled: boolean }
  | { readonly name: 'read'; readonly slot: Slot }
  | { readonly name: 'beacon'; readonly slot: Slot };

/** Says what a step leads to. Pure, so that a rule can be tried against every schedule. */
export type ArmingRule = (stage: Stage, step: Step) => Stage;

export const SUBSCRIBING: Stage = { name: 'subscribing' };

/** How many slots the nodes of a pool, and the queue of one, may be behind each other. */
const POOL_SLOTS = 8;

/**
 * When silence may be taken for "unchanged". A node acknowledges a subscription before it takes its baseline: changes
 * in between are never told. So it is read again, once a beacon behind the first reading has shown that the
 * subscription is through the node's queue. Where another node may have read, one that is behind, the beacon must be as
 * far behind the reading as nodes are apart.
 */
export const twoReads: ArmingRule = (stage, step) => {
  if (stage.name === 'subscribing' && step.name === 'acknowledged') {
    return { name: 'first-read', margin: step.pooled ? POOL_SLOTS : 0 };
  }
  if (stage.name === 'first-read' && step.name === 'read') {
    return { name: 'beacon', after: step.slot + stage.margin };
  }
  if (stage.name === 'beacon' && step.name === 'beacon' && step.slot > stage.after) {
    return { name: 'second-read', atLeast: step.slot };
  }
  if (stage.name === 'second-read' && step.name === 'read' && step.slot >= stage.atLeast) return { name: 'live' };
  return stage;
};
