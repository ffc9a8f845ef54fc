import { COMMITMENTS, type Commitment } from '../../../shared/domain/commitment.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { batchesOf } from '../../../shared/runtime/map-in-chunks.ts';
import {
  elements,
  isNull,
  type Members,
  member,
  members,
  parseSafeInteger,
  shortText,
} from '../../upstream/json/raw-json.ts';
import type { Mesh } from '../../upstream/mesh/mesh.ts';
import type { ReadRpc, Source } from './source.ts';

/** The most signatures of one getSignatureStatuses (Solana RPC). */
const MAX_SIGNATURES = 256;

/**
 * The slots after which nobody waits for a transaction any more: its blockhash is valid for 150 blocks, some slots have no
 * block, and finality takes 32.
 */
const MAX_SLOTS = 400;

interface Watcher {
  readonly signature: string;
  readonly commitment: Commitment;
  /** The processed slot when somebody waited for it last. */
  sinceSlot: Slot;
  readonly onReached: (result: string) => void;
  readonly onExpired: () => void;
}

/** The signatures that clients wait for: one getSignatureStatuses in each slot for all of them. */
export class SignatureWatch {
  readonly #readRpc: ReadRpc;
  readonly #mesh: Pick<Mesh, 'tip' | 'onTip'>;
  readonly #watchers = new Set<Watcher>();
  readonly #stopTips: () => void;
  #isPolling = false;
  #isDue = false;

  constructor(readRpc: ReadRpc, mesh: Pick<Mesh, 'tip' | 'onTip'>) {
    this.#readRpc = readRpc;
    this.#mesh = mesh;
    this.#stopTips = mesh.onTip('processed', (slot) => {
      for (const watcher of [...this.#watchers]) {
        if (slot - watcher.sinceSlot <= MAX_SLOTS) continue;
        this.#watchers.delete(watcher);
        watcher.onExpired();
      }
      this.poll();
    });
  }

  /** Calls back once: when the transaction has reached the commitment, or {@link MAX_SLOTS} after it was last renewed. */
  watch(
    { signature, commitment }: Pick<Watcher, 'signature' | 'commitment'>,
    { onReached, onExpired }: Pick<Watcher, 'onReached' | 'onExpired'>,
  ): Pick<Source, 'close'> & { renew(): void } {
    const slotNow = (): Slot => this.#mesh.tip('processed') ?? 0;
    const watcher = { signature, commitment, sinceSlot: slotNow(), onReached, onExpired };
    this.#watchers.add(watcher);
    return {
      renew() {
        watcher.sinceSlot = slotNow();
      },
      close: () => void this.#watchers.delete(watcher),
    };
  }

  /** Reads the statuses, and once more if that is due again in between. */
  poll(): void {
    this.#isDue = this.#watchers.size > 0;
    if (this.#isPolling || !this.#isDue) return;
    this.#isPolling = true;
    void this.#pollWhileDue();
  }

  close(): void {
    this.#stopTips();
    this.#watchers.clear();
  }

  async #pollWhileDue(): Promise<void> {
    while (this.#isDue) {
      this.#isDue = false;
      const signatures = [...new Set([...this.#watchers].map(({ signature }) => signature))];
      const parts = batchesOf(signatures, MAX_SIGNATURES);
      await Promise.all(parts.map((part) => this.#read(part).catch(() => {}))); // the next slot tries again
    }
    this.#isPolling = false;
  }

  async #read(signatures: readonly string[]): Promise<void> {
    const result = await this.#readRpc('getSignatureStatuses', [signatures]);
    const statuses = elements(member(Buffer.from(result), 'value') ?? Buffer.alloc(0));
    const bySignature = new Map(signatures.map((signature, i) => [signature, statuses[i]]));
    for (const watcher of [...this.#watchers]) {
      const status = bySignature.get(watcher.signature);
      if (status === undefined || isNull(status)) continue;
      const parts = members(status);
      const err = parts.get('err');
      if (err === undefined || COMMITMENTS.indexOf(reachedBy(parts)) < COMMITMENTS.indexOf(watcher.commitment))
        continue;
      this.#watchers.delete(watcher);
      const slot = parseSafeInteger(parts.get('slot'));
      watcher.onReached(`{"context":{"slot":${slot}},"value":{"err":${err}}}`);
    }
  }
}

/** Where a status names no commitment, its `confirmations` say whether it is final: null once they are counted no more (Solana RPC). */
function reachedBy(status: Members): Commitment {
  const named = COMMITMENTS.find((name) => shortText(status.get('confirmationStatus')) === `"${name}"`);
  const confirmations = status.get('confirmations');
  return named ?? (confirmations !== undefined && isNull(confirmations) ? 'finalized' : 'processed');
}
