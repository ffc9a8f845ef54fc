import { LRUCache } from 'lru-cache';
import { compare } from '../../../shared/domain/compare.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { atMost } from '../../../shared/runtime/at-most.ts';
import { mapConcurrently } from '../../../shared/runtime/map-concurrently.ts';
import { eachElement, member, parseString } from '../json/raw-json.ts';
import type { Mesh } from '../mesh/mesh.ts';
import { callWithMaxSupportedVersion } from './max-supported-version.ts';
import {
  type Finality,
  readSignatureRows,
  type SignaturePage,
  type SignatureQuery,
  type SignatureRow,
} from './signature-page.ts';

type Reader = Pick<Mesh, 'call' | 'tip'>;

export interface MergedQuery extends Omit<SignatureQuery, 'address'> {
  /** The addresses whose lists are merged; one node gives all of them while it is healthy: that of the first. */
  readonly addresses: readonly [string, ...string[]];
  /** Returns the slot of the cursor's transaction. Throws `cursor_not_found`. */
  readonly slotOfCursor: (signature: string) => Promise<Slot>;
}

/** Where a page begins, and from where the lists are read for it. */
interface Start {
  readonly slot: Slot;
  /** All of the cursor's slot lies below it in each list; undefined to read from the newest one on. */
  readonly above: string | undefined;
  readonly aboveSlot: Slot;
}

interface List {
  readonly address: string;
  readonly rows: SignatureRow[];
  isAtEnd: boolean;
}

/** Most concurrent reads of lists: more would crowd out the node's other callers. */
const MAX_CONCURRENT_READS = 8;

/** Rows of a list that are read beyond the page: those of a slot at its ends. */
const MARGIN = 8;
const MAX_ROWS = 1000;

/** Most reads of one list for a page: more rows than they give don't fit into a slot. */
const MAX_ROUNDS = 8;

/** Most slots above a cursor that are searched for a block: a leader that is down skips four, two in a row eight. */
const MAX_SKIPPED_SLOTS = 9;

/** Cursors whose start is remembered. Each takes some 500 bytes. */
const MAX_STARTS = 10_000;

export class MergedSignatures {
  #starts = createStarts();

  /** Reads a page. Throws `cursor_not_found`. */
  async read(mesh: Reader, query: MergedQuery): Promise<SignaturePage> {
    try {
      return await this.#read(mesh, query);
    } catch (thrown) {
      const isUnknown = thrown instanceof GatewayError && thrown.code === 'cursor_not_found';
      // a fork may have dropped what was remembered
      if (isUnknown && this.#starts.delete(keyOf(query, query.before ?? ''))) return this.#read(mesh, query);
      throw thrown;
    }
  }

  /** Forgets the starts of all cursors, those too of pages that are being read. */
  clear(): void {
    this.#starts = createStarts();
  }

  async #read(mesh: Reader, query: MergedQuery): Promise<SignaturePage> {
    const { before, limit, minSlot = 0 } = query;
    const starts = this.#starts;
    const finalized = mesh.tip('finalized') ?? -1;
    const start = before === undefined ? undefined : await this.#startOf(mesh, before, query);
    const isBelowFinalized = start !== undefined && start.slot <= finalized && finalized >= minSlot;
    const commitment: Finality = isBelowFinalized ? 'finalized' : query.commitment;
    // between the cursor's slot and a transaction that isn't finalized yet there is nothing to read over
    const above = isBelowFinalized && start.aboveSlot > finalized ? undefined : start?.above;
    const isBelow = (row: SignatureRow): boolean =>
      start === undefined || before === undefined || comparePlaces(row, { slot: start.slot, signature: before }) > 0;
    const lists = query.addresses.map((address): List => ({ address, rows: [], isAtEnd: false }));
    let slot = Number.POSITIVE_INFINITY;
    for (let round = 1; ; round++) {
      const merged = merge(lists).filter(isBelow);
      const unfinished = round === 1 ? lists : lists.filter((list) => !reachesBelow(list, merged[limit - 1]));
      if (unfinished.length === 0) return pageOf(merged, lists, { query, slot, start, starts });
      if (round > MAX_ROUNDS)
        throw new GatewayError('upstream_error', 'the node lists more transactions of one slot than a slot can have');
      const count = round === 1 ? limit + MARGIN : MAX_ROWS;
      const slots = await mapConcurrently(unfinished, MAX_CONCURRENT_READS, async (list) => {
        const { address, rows } = list;
        const last = rows.at(-1)?.signature ?? above;
        const options = { address, before: last, limit: count, commitment, minSlot };
        const read = await readSignatureRows(mesh, options, query.addresses[0]);
        list.isAtEnd = read.rows.length < count;
        rows.push(...read.rows);
        return read.slot;
      });
      slot = Math.min(slot, ...slots);
    }
  }

  async #startOf(mesh: Reader, cursor: string, query: MergedQuery): Promise<Start> {
    const remembered = this.#starts.get(keyOf(query, cursor));
    if (remembered !== undefined) return remembered;
    const slot = await query.slotOfCursor(cursor);
    return findStart(mesh, cursor, slot, query);
  }
}

type Starts = ReturnType<typeof createStarts>;

const createStarts = () => new LRUCache<string, Start & { readonly above: string }>(atMost(MAX_STARTS));

interface PageFacts {
  readonly query: MergedQuery;
  readonly slot: Slot;
  readonly start: Start | undefined;
  readonly starts: Starts;
}

function pageOf(
  merged: readonly SignatureRow[],
  lists: readonly List[],
  { query, slot, start, starts }: PageFacts,
): SignaturePage {
  const { limit } = query;
  const rows = merged.slice(0, limit);
  const hasMore = merged.length > limit || lists.some(({ isAtEnd }) => !isAtEnd);
  const end = rows.at(-1);
  if (hasMore && end !== undefined) remember(starts, keyOf(query, end.signature), end, rows, start);
  return { slot, rows, nextBefore: hasMore ? (end?.signature ?? null) : null };
}

/** Remembers where the page below a row is read from: the row above its slot that is nearest. */
function remember(
  starts: Starts,
  key: string,
  end: SignatureRow,
  rows: readonly SignatureRow[],
  start: Start | undefined,
): void {
  const nearest = rows.findLast(({ slot }) => slot > end.slot);
  const above = nearest?.signature ?? start?.above;
  const aboveSlot = nearest?.slot ?? start?.aboveSlot ?? end.slot;
  if (above !== undefined && aboveSlot > end.slot) starts.set(key, { slot: end.slot, above, aboveSlot });
}

/** Returns the key of a cursor: of another address it may be none. */
const keyOf = ({ addresses }: MergedQuery, cursor: string): string => `${addresses[0]}/${cursor}`;

type Place = Pick<SignatureRow, 'slot' | 'signature'>;

/** Compares two places in the merged list: the newer slot is first, then the signature that is first in the alphabet. */
const comparePlaces = (a: Place, b: Place): number => b.slot - a.slot || compare(a.signature, b.signature);

function merge(lists: readonly List[]): SignatureRow[] {
  const rows = new Map<string, SignatureRow>();
  for (const list of lists) for (const row of list.rows) if (!rows.has(row.signature)) rows.set(row.signature, row);
  return [...rows.values()].sort(comparePlaces);
}

/** Returns true if a list was read to its end, or beyond the slot of the page's last row. */
const reachesBelow = ({ rows, isAtEnd }: List, end: SignatureRow | undefined): boolean =>
  isAtEnd || (end !== undefined && (rows.at(-1)?.slot ?? Number.POSITIVE_INFINITY) < end.slot);

/** The first transaction of the next block. Without such a block the page begins at the cursor, as the node orders. */
async function findStart(
  mesh: Reader,
  cursor: string,
  slot: Slot,
  { commitment, minSlot }: Pick<MergedQuery, 'commitment' | 'minSlot'>,
): Promise<Start> {
  const tip = mesh.tip(commitment) ?? slot;
  for (let next = slot + 1; next <= slot + MAX_SKIPPED_SLOTS; next++) {
    if (next > tip) return { slot, above: undefined, aboveSlot: next };
    const above = await readFirstSignature(mesh, next, { commitment, minSlot });
    if (above !== undefined) return { slot, above, aboveSlot: next };
  }
  return { slot, above: cursor, aboveSlot: slot };
}

/** Reads the first signature of a block; undefined where the slot was skipped, or the node has no such block. */
async function readFirstSignature(
  mesh: Reader,
  slot: Slot,
  bounds: Pick<MergedQuery, 'commitment' | 'minSlot'>,
): Promise<string | undefined> {
  const config = { transactionDetails: 'signatures', rewards: false };
  const request = { method: 'getBlock', subject: slot, config, ...bounds } as const;
  try {
    const { result } = await callWithMaxSupportedVersion(mesh, request);
    const signatures = member(result, 'signatures');
    for (const signature of signatures === undefined ? [] : eachElement(signatures)) return parseString(signature);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.code === 'rpc_error') return undefined;
    throw thrown;
  }
}
