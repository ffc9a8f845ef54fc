import type { Clock } from '../../../shared/domain/clock.ts';
import { concatInTurns } from '../../../shared/runtime/concat-in-turns.ts';
import { ownTurn } from '../../../shared/runtime/own-turn.ts';
import { type TaskOwner, ThreadPool } from '../../../shared/runtime/thread-pool.ts';
import type { IdlAccount } from '../../../transactions/index.ts';
import type { BlockListing } from '../routing/block-listings.ts';
import type {
  AddressTransfers,
  EnhancedRecord,
  SentenceNames,
  TransactionDecoder,
  TransferQuery,
} from '../routing/transaction-decoder.ts';
import { decodingTasks } from './decoding-tasks.ts';

/** The longest body that is explained in this thread: hardly more than a mistake. A longer one may be slow to refuse. */
const MAX_INLINE_BODY = 256;

/** The longest record that is decoded in this thread, in about a millisecond: it comes from a node. */
const MAX_INLINE_RECORD = 2048;

/** Decodes short texts in this thread, each in a turn of its own, and long ones in a pool of threads. */
export class PooledDecoder implements TransactionDecoder {
  readonly #pool: ThreadPool<typeof decodingTasks>;

  constructor(clock: Clock) {
    this.#pool = new ThreadPool({
      module: new URL('./decoding-thread.js', import.meta.url),
      clock,
      maxThreads: 1, // about ten of the longest transactions a second
      maxHeapMb: 128,
      maxWaiting: 128,
      maxTaskMs: 2000,
      idleMs: 60_000,
    });
  }

  explain(body: Buffer, owner: TaskOwner): Promise<string> {
    return body.length <= MAX_INLINE_BODY
      ? ownTurn().then(() => decodingTasks.explain(body))
      : this.#pool.run('explain', [copyOf(body)], owner);
  }

  enhance(record: Buffer, names: SentenceNames, owner: TaskOwner): Promise<EnhancedRecord> {
    return record.length <= MAX_INLINE_RECORD
      ? ownTurn().then(() => decodingTasks.enhance(record, names))
      : this.#pool.run('enhance', [copyOf(record), names], owner);
  }

  readIdl(accounts: readonly IdlAccount[], owner: TaskOwner): Promise<ReadonlyMap<string, string>> {
    return this.#pool.run('readIdl', [accounts], owner);
  }

  findTransfers(record: Buffer, query: TransferQuery, owner: TaskOwner): Promise<AddressTransfers> {
    return record.length <= MAX_INLINE_RECORD
      ? ownTurn().then(() => decodingTasks.findTransfers(record, query))
      : this.#pool.run('findTransfers', [copyOf(record), query], owner);
  }

  async listBlock(block: Buffer, owner: TaskOwner): Promise<BlockListing> {
    return this.#pool.run('listBlock', [await concatInTurns([block])], owner);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

/** Copies a part of a larger buffer, all of which would be sent to a thread. */
const copyOf = (bytes: Buffer): Uint8Array => new Uint8Array(bytes);
