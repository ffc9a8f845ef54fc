import type { Commitment } from '../../shared/domain/commitment.ts';
import { GatewayError } from '../../shared/domain/gateway-error.ts';
import type { Lease } from '../../shared/domain/lease.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import type { RequestCost } from '../../shared/domain/units.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import { readBlockSlots, readParentSlot } from '../upstream/reads/block-slots.ts';
import type { History, Version } from './feed/history.ts';
import { RecentBlocks } from './feed/recent-blocks.ts';
import { Watermark } from './watermark.ts';
import { WatermarkLease } from './watermark-lease.ts';

export interface PastSlot {
  readonly slot: Slot;
  readonly commitment: Commitment;
  readonly cost: RequestCost | undefined;
}

export interface PastSlotsOptions {
  readonly blocks: RecentBlocks;
  readonly mesh: Pick<Mesh, 'call' | 'tip'>;
}

/** What was kept at the end of a block: one version for each history. */
export interface PastVersions<V> {
  /** The block: that of the slot, or its parent if the slot was skipped. */
  readonly slot: Slot;
  readonly versions: readonly Version<V>[];
  /** Active until something that was kept turns out to be wrong. */
  readonly lease: Lease;
}

/** Most slots without a block in a row that are looked at. */
const MAX_SKIPPED = 64;

/** The reads of past slots keep nothing live. */
const UNCOUNTED = { recordRead() {} };

export class PastSlots {
  readonly #options: PastSlotsOptions;
  /** Dates all answers: it never advances, since what held at the end of a block holds for good. */
  #watermark = new Watermark(() => undefined);

  constructor(options: PastSlotsOptions) {
    this.#options = options;
  }

  /** Throws `invalid_query` for processed, and `block_not_available` for a slot ahead. Whether any history is kept is not known yet. */
  check({ slot: named, commitment }: PastSlot): void {
    if (commitment === 'processed')
      throw new GatewayError('invalid_query', 'slot is not for processed: such a block may be taken back');
    const tip = this.#options.mesh.tip(commitment) ?? -1;
    if (named > tip)
      throw new GatewayError('block_not_available', `slot ${named} is ahead of the newest ${commitment} one, ${tip}`);
  }

  /** Finds what histories have at a checked slot. Throws `slot_not_kept` for one of which a history has nothing. */
  async find<V>({ slot: named, cost }: PastSlot, histories: readonly History<V>[]): Promise<PastVersions<V>> {
    if (histories.some((history) => (history.keptFrom(0) ?? named + 1) > named)) throw slotNotKept(named, histories);
    const watermark = this.#watermark; // what is denied while the block is looked up is denied of this answer, too
    const slot = await this.#blockAt(named, cost);
    const versions = histories.map((history) => {
      const version = history.at(slot);
      if (version !== undefined) return version;
      const isAhead = history.isOpen && history.coverage.slot < slot;
      throw isAhead ? notYetKnown(slot, history.address) : slotNotKept(named, histories);
    });
    return { slot, versions, lease: new WatermarkLease(slot, watermark, UNCOUNTED) };
  }

  /** Ends the leases of all answers that were given: what they were made of may be wrong. */
  clear(): void {
    this.#watermark.invalidate();
    this.#watermark = new Watermark(() => undefined);
  }

  /** Returns the slot of the block that was the newest one at the end of a slot. */
  async #blockAt(slot: Slot, cost: RequestCost | undefined): Promise<Slot> {
    const { blocks, mesh } = this.#options;
    const known = blocks.blockAt(slot);
    if (known !== undefined) return known;
    const watermark = this.#watermark;
    const listed = await readBlockSlots(mesh, Math.max(0, slot - MAX_SKIPPED), slot + MAX_SKIPPED, cost);
    const tip = mesh.tip('confirmed') ?? -1;
    const found = listed.filter((each) => each <= tip);
    const next = found.find((each) => each >= slot);
    const parentSlot =
      next === undefined || next === slot
        ? next
        : await readParentSlot(mesh, next, 'confirmed', cost).catch(undefinedIfRefused);
    const kept = watermark === this.#watermark ? blocks : new RecentBlocks(0); // what may be a lie is for this answer alone
    for (const each of found) if (kept.blockAt(each) === undefined) kept.add(each, each);
    if (next !== undefined && next !== slot && parentSlot !== undefined && kept.allows(next, parentSlot))
      kept.add(next, parentSlot);
    const block = kept.blockAt(slot);
    if (block !== undefined) return block;
    throw new GatewayError('block_not_available', `no node shows yet whether slot ${slot} has a block`);
  }
}

/** A node may list a block that it doesn't have: whether a slot before it was skipped is not known then. */
function undefinedIfRefused(thrown: unknown): undefined {
  if (GatewayError.from(thrown).code !== 'rpc_error') throw thrown;
}

const notYetKnown = (slot: Slot, address: string): GatewayError =>
  new GatewayError('block_not_available', `what ${address} was at slot ${slot} is not known yet; retry in a moment`);

/** Names the first slot behind one at which all are kept. */
function slotNotKept(slot: Slot, histories: readonly History<unknown>[]): GatewayError {
  const oldestSlot = allKeptFrom(slot + 1, histories);
  const since = oldestSlot === undefined ? '' : `: the first later one that is kept is ${oldestSlot}`;
  return new GatewayError('slot_not_kept', `slot ${slot} is not kept${since}`, { oldestSlot });
}

function allKeptFrom(slot: Slot, histories: readonly History<unknown>[]): Slot | undefined {
  const oldest = histories.reduce<Slot | undefined>(
    (from, history) => (from === undefined ? undefined : history.keptFrom(from)),
    slot,
  );
  return oldest === undefined || oldest === slot ? oldest : allKeptFrom(oldest, histories); // one may have a gap there
}

/** `what` is the noun of what has no history. */
export function throwNothingKept(what: string, address: string): never {
  throw new GatewayError(
    'slot_not_kept',
    `no past slot of ${what} ${address} is kept: they are from when it is read often on, or subscribed to`,
  );
}
