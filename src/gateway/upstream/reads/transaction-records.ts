import { LRUCache } from 'lru-cache';
import type { Agreement } from '../../../shared/domain/agreement.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { tryOrUndefined } from '../../../shared/domain/try-or-undefined.ts';
import { countRows, type RequestCost, rowsOfRecord } from '../../../shared/domain/units.ts';
import { mapConcurrently } from '../../../shared/runtime/map-concurrently.ts';
import { member, parseSafeInteger } from '../json/raw-json.ts';
import type { Mesh } from '../mesh/mesh.ts';
import type { RpcCaller, RpcResponse } from '../rpc/rpc-response.ts';
import type { VersionedReadOptions } from './max-supported-version.ts';
import { readTransactionRecord, type TransactionRead } from './transaction-record.ts';

/** Most concurrent reads of one page of history: more would crowd out the node's other callers. */
const MAX_CONCURRENT_READS = 8;

/** Memory of a cached record without its bytes. */
const RECORD_OVERHEAD_BYTES = 400;

interface CachedRecord {
  readonly record: Buffer;
  readonly landedAt: Slot;
  readonly isFinal: boolean;
  readonly agreement: Agreement | undefined;
}

/** Transaction that is listed at a slot; undefined where nothing says where it is. */
export interface ListedTransaction {
  readonly signature: string;
  readonly slot: Slot | undefined;
}

/** A finalized record never changes; any other is valid for as long as a newer list has it in the same slot. */
export class TransactionRecords {
  readonly #mesh: Pick<Mesh, 'tip'>;
  readonly #cache: LRUCache<string, CachedRecord>;
  #drops = 0;

  constructor(mesh: Pick<Mesh, 'tip'>, maxBytes: number) {
    this.#mesh = mesh;
    this.#cache = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ record }) => record.length + RECORD_OVERHEAD_BYTES,
    });
  }

  /** Reads a transaction, through `rpc` where it isn't cached. Its record counts for a request, cached or not. */
  async read(
    rpc: RpcCaller,
    transaction: ListedTransaction,
    options: VersionedReadOptions,
    cost: RequestCost | undefined,
  ): Promise<TransactionRead> {
    const read = await this.#read(rpc, transaction, options);
    countRows({ cost }, rowsOfRecord(read.record?.length ?? 0));
    return read;
  }

  async #read(
    rpc: RpcCaller,
    { signature, slot: listedAt }: ListedTransaction,
    options: VersionedReadOptions,
  ): Promise<TransactionRead> {
    const { commitment, minSlot = 0, agree = 1 } = options;
    const cached = this.#cache.get(signature);
    const isAgreed = cached?.agreement === undefined || cached.agreement.agreed >= agree;
    const hit = isAgreed ? cached : undefined;
    const slot = this.#mesh.tip(commitment) ?? -1;
    if (hit !== undefined && slot >= Math.max(minSlot, hit.landedAt) && (hit.isFinal || hit.landedAt === listedAt))
      return { slot, record: hit.record, agreement: hit.agreement && { ...hit.agreement, slot } };
    const finalized = this.#mesh.tip('finalized') ?? -1; // as of before the request is sent
    const drops = this.#drops;
    const read = await readTransactionRecord(rpc, signature, options);
    const mayBeLie = drops !== this.#drops && !isVouchedFor(read);
    if (read.record === null || mayBeLie) return read;
    const landedAt = slotIn(read.record);
    if (landedAt === undefined) return read;
    const isFinal = commitment === 'finalized' || landedAt <= finalized;
    this.#cache.set(signature, { record: read.record, landedAt, isFinal, agreement: read.agreement });
    return read;
  }

  /** Forgets the records for which one operator alone vouches, those too that are being read. */
  dropUnagreed(): void {
    this.#drops++;
    for (const [signature, record] of this.#cache.entries()) if (!isVouchedFor(record)) this.#cache.delete(signature);
  }

  readAll(
    rpc: RpcCaller,
    transactions: readonly ListedTransaction[],
    options: VersionedReadOptions,
    cost: RequestCost | undefined,
  ): Promise<TransactionRead[]> {
    return mapConcurrently(transactions, MAX_CONCURRENT_READS, (each) => this.read(rpc, each, options, cost));
  }
}

const isVouchedFor = ({ agreement }: Pick<TransactionRead, 'agreement'>): boolean => (agreement?.agreed ?? 1) > 1;

/** Returns what is true for a response whose transaction can't change any more: its block was finalized by this slot. */
export const isFinalAt =
  (finalized: Slot) =>
  ({ result }: RpcResponse): boolean =>
    (slotIn(result) ?? Number.POSITIVE_INFINITY) <= finalized;

/** Returns the slot that a record names; undefined for a malformed one, which its reader judges. */
const slotIn = (record: Buffer): Slot | undefined => tryOrUndefined(() => parseSafeInteger(member(record, 'slot')));
