import type { Commitment } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Slot } from '../../domain/slot.ts';
import { AccountBatcher, type AccountRead } from '../../upstream/reads/account-batcher.ts';
import { type LiveSessionOptions, SessionAudit } from '../session-audit.ts';
import { type AccountJson, isSameAccount, toAccountJson } from './account-json.ts';
import type { AccountState, UpdateResult } from './account-state.ts';

export interface AccountSessionOptions extends LiveSessionOptions<AccountState> {
  /** The size of the largest account that is kept live, in bytes of its JSON. */
  readonly maxAccountBytes: number;
  /** Called when an account has changed or was rolled back. */
  onChange(account: AccountState, result: UpdateResult, slot: Slot): void;
  /** Called when an account can't be kept live. */
  onIneligible(account: AccountState, reason: GatewayError): void;
}

/** One session, and the accounts that are kept live over it. */
export class AccountSession {
  readonly #options: AccountSessionOptions;
  readonly #reader: AccountBatcher;
  readonly #accounts = new Map<AccountState, () => void>();
  readonly #sessionAudit: SessionAudit<AccountState>;
  readonly #syncing = new Set<AccountState>();
  readonly #readsInFlight = new Set<AccountState>();

  constructor(options: AccountSessionOptions) {
    this.#options = options;
    this.#reader = new AccountBatcher(options.pubsub, options);
    this.#sessionAudit = new SessionAudit({
      session: options,
      states: () => this.#accounts.keys(),
      reread: async (account) => {
        const fetched = await this.#fetch(account, undefined);
        return { slot: fetched.slot, isUnchanged: () => isSameAccount(toAccountJson(fetched.account), account.json) };
      },
      onClockUpdate: (commitment, { slot }) => this.#onClockUpdate(commitment, slot),
      onLost: () => {
        this.#accounts.clear();
        this.#syncing.clear();
      },
    });
  }

  get capacity(): number {
    return this.#options.pubsub.capacity;
  }

  get size(): number {
    return this.#accounts.size;
  }

  has(account: AccountState): boolean {
    return this.#accounts.has(account);
  }

  add(account: AccountState): void {
    const { pubsub } = this.#options;
    const { address, commitment } = account;
    account.holder.attach(this.#sessionAudit.watermarkOf(commitment));
    this.#syncing.add(account);
    const params = [address, { encoding: 'jsonParsed', commitment }];
    const unsubscribe = pubsub.subscribe('accountSubscribe', params, {
      onAcknowledged: () => {
        account.onSyncEvent({ name: 'acknowledged', isPooled: pubsub.isPooled });
        void this.#readIfNeeded(account);
      },
      onNotification: (slot, value) => this.#onNotification(account, slot, value),
      onRejected: () =>
        this.#markIneligible(
          account,
          new GatewayError('upstream_error', 'the node rejects a subscription to the account'),
        ),
    });
    this.#accounts.set(account, unsubscribe);
  }

  remove(account: AccountState): void {
    this.#accounts.get(account)?.();
    this.#accounts.delete(account);
    this.#syncing.delete(account);
    account.holder.detach();
  }

  /** Compares the session with the cluster's tip; called when the tip has advanced. */
  checkLag(commitment: Commitment): void {
    this.#sessionAudit.checkLag(commitment);
  }

  /** Re-reads at most `maxStates` accounts that have a lease and compares them. Resolves to the number that were compared. */
  audit(maxStates: number): Promise<number> {
    return this.#sessionAudit.audit(maxStates);
  }

  #onClockUpdate(commitment: Commitment, slot: Slot): void {
    if (commitment === 'processed') for (const account of this.#accounts.keys()) this.#rollbackIfForked(account, slot);
    for (const account of this.#syncing) {
      if (account.commitment !== commitment) continue;
      account.onSyncEvent({ name: 'clock-update', slot });
      void this.#readIfNeeded(account);
    }
  }

  /** Reads an account if its initial sync needs a read. A read that fails is repeated at the next Clock update. */
  async #readIfNeeded(account: AccountState): Promise<void> {
    const { pendingReadMinSlot } = account;
    if (pendingReadMinSlot === undefined || this.#readsInFlight.has(account)) return;
    this.#readsInFlight.add(account);
    try {
      const fetched = await this.#fetch(account, pendingReadMinSlot > 0 ? pendingReadMinSlot : undefined);
      const json = toAccountJson(fetched.account);
      if (!this.has(account)) return;
      if (this.#isTooLarge(json)) this.#markIneligible(account, tooLargeError());
      else this.#handleResult(account, account.onRead(fetched.slot, json), fetched.slot);
      if (account.holder.isSynced) this.#syncing.delete(account);
    } catch (thrown) {
      // Any other read that fails is still needed.
      if (thrown instanceof GatewayError && thrown.code === 'result_too_large' && this.has(account))
        this.#markIneligible(account, tooLargeError());
    } finally {
      this.#readsInFlight.delete(account);
    }
  }

  #fetch({ address, commitment }: AccountState, minContextSlot: Slot | undefined): Promise<AccountRead> {
    return this.#reader.read({ address, commitment, shape: 'parsed', minContextSlot });
  }

  #onNotification(account: AccountState, slot: Slot, value: Buffer): void {
    const json = toAccountJson(value);
    const leasedSlot = account.lease?.slot;
    if (this.#isTooLarge(json)) this.#markIneligible(account, tooLargeError());
    else {
      this.#rollbackIfForked(account, slot);
      this.#handleResult(account, account.onNotification(slot, json), slot, leasedSlot);
    }
  }

  /** Rolls an account back when the node has left the fork on which its state was processed. */
  #rollbackIfForked(account: AccountState, slot: Slot): void {
    if (account.commitment !== 'processed' || !this.#options.pubsub.isOnAnotherFork(account.slot, slot)) return;
    this.#handleResult(account, account.rollback(), slot);
  }

  #isTooLarge(json: AccountJson): boolean {
    return json !== null && json.length > this.#options.maxAccountBytes;
  }

  #handleResult(account: AccountState, result: UpdateResult, slot: Slot, leasedSlot?: Slot): void {
    if (result === 'late') this.#sessionAudit.invalidate(account, { leased: leasedSlot, notified: slot });
    else if (result !== 'ignored' && result !== 'unchanged') this.#options.onChange(account, result, slot);
  }

  #markIneligible(account: AccountState, reason: GatewayError): void {
    this.remove(account);
    this.#options.onIneligible(account, reason);
  }
}

const tooLargeError = (): GatewayError =>
  new GatewayError('result_too_large', 'the account is too large to be kept live');
