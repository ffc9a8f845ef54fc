import type { Commitment } from '../../shared/domain/commitment.ts';
import { indexKeyOf, indexKeysOf, type Memcmp } from '../bank/account-index.ts';
import type { Chain } from '../bank/chain.ts';
import type { PubsubEvent } from './notification-order.ts';

/** What happens in an event, as text. A topic has results only for events with one of its triggers. */
export type Trigger = string;

/** A block reached a commitment. */
export const bankTrigger = (commitment: Commitment): Trigger => `bank ${commitment}`;

/** An account changed at a commitment. */
export const accountTrigger = (commitment: Commitment, address: string): Trigger => `account ${commitment} ${address}`;

/** An account of a program changed at a commitment; of a token program, one of the mint or owner that a filter names. */
export const programTrigger = (commitment: Commitment, program: string, filters: readonly Memcmp[]): Trigger =>
  indexTrigger(commitment, indexKeyOf(program, filters));

const indexTrigger = (commitment: Commitment, key: string): Trigger => `program ${commitment} ${key}`;

/** Returns the triggers of an event, those of accounts with the address, sorted by it. */
export function triggersOf(event: PubsubEvent, chain: Chain): [trigger: Trigger, address?: string][] {
  if (event.kind !== 'bank') return [[event.kind]];
  const { commitment, block, changed } = event;
  const triggers: [trigger: Trigger, address?: string][] = [[bankTrigger(commitment)]];
  for (const address of [...changed].sort()) {
    triggers.push([accountTrigger(commitment, address), address]);
    const account = chain.accountAt(address, block.slot);
    if (account === undefined) continue;
    for (const key of indexKeysOf(account)) triggers.push([indexTrigger(commitment, key), address]);
  }
  return triggers;
}
