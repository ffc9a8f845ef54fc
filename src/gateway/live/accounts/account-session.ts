import { agreedAt, decidingOf } from '../../../shared/domain/agreement.ts';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import type {
  ClockUpdate,
  PubsubSession,
  PubsubSubscription,
  SubscriptionHandler,
} from '../../upstream/pubsub/pubsub-session.ts';
import { AccountBatcher, type AccountQuery, type AccountRead } from '../../upstream/reads/account-batcher.ts';
import { factsOfAccount } from '../../upstream/reads/account-facts.ts';
import { isRefusal } from '../../upstream/rpc/error-normalizer.ts';
import { contradictionOf } from '../../upstream/rpc/facts.ts';
import type { VersionRing } from '../feed/version-ring.ts';
import { clockEventOf, marginSlotsOf } from '../initial-sync.ts';
import { isSynced } from '../live-state.ts';
import { type AuditRead, type LiveSessionOptions, SessionAudit } from '../session-audit.ts';
import { type AccountJson, accountBytes, decodeAccountJson, isSameAccount } from './account-json.ts';
import type { AccountState, UpdateResult } from './account-state.ts';
import { PacedAccountReads } from './paced-account-reads.ts';
import { denyRecorded, endRecorded, recordAccount } from './past-accounts.ts';

export interface AccountSessionOptions extends LiveSessionOptions<AccountState> {
  /** The size of the largest account that is kept live, in bytes of its JSON. */
  readonly maxAccountBytes: number;
  /** Keeps past versions; undefined where another process does. */
  readonly ring?: VersionRing | undefined;
  /** Called when an account has changed or was rolled back. */
  onChange(account: AccountState, result: UpdateResult, slot: Slot): void;
  onIneligible(account: AccountState, reason: GatewayError): void;
  /** Called when an account must be subscribed again, perhaps on another session. */
  reassign(account: AccountState): void;
}

/** The most accounts of one request: what a node accepts in one getMultipleAccounts, with the Clock. */
const MAX_BATCH = 99;

/** The accounts that are looked at for a batch of one commitment. */
const MAX_SCANNED = 1000;
/** The longest account that an audit compares, in some 15 ms: the parser of another node may show more of it. */
const MAX_COMPARED_BYTES = 64 * 1024;

export class AccountSession {
  readonly connection: PubsubSession;
  readonly sessionAudit: SessionAudit<AccountState>;
  readonly #options: AccountSessionOptions;
  readonly #accounts = new Map<AccountState, SessionAccount>();
  readonly #syncing = new Set<SessionAccount>();
  /** Those of them that are to be read, in the order in which they became ready for it. */
  readonly #toRead = new Set<SessionAccount>();
  /** The accounts of the last notifications that no later Clock update has proven yet, and the slots of these. */
  readonly #unproven = new Map<SessionAccount, Slot>();
  /** The accounts at processed, which a fork may take back. */
  readonly #processed = new Set<AccountState>();
  readonly #syncReads: PacedAccountReads;
  readonly #auditReads: PacedAccountReads;
  /** Reads of several operators, which decide where two differ; undefined where there is one. */
  readonly #decidingReads: AccountBatcher | undefined;
  #isReading = false;

  constructor(options: AccountSessionOptions) {
    const { pubsub, budget, agreement } = options;
    this.#options = options;
    this.connection = pubsub;
    this.#syncReads = new PacedAccountReads(pubsub, budget, 'sync', options);
    const witness = agreement?.witnessOf(pubsub.nodeId) ?? pubsub;
    this.#auditReads = new PacedAccountReads(witness, budget, 'audit', options);
    this.#decidingReads = agreement && new AccountBatcher(agreement.rpc, options);
    this.sessionAudit = new SessionAudit({
      session: options,
      awaitTurn: () => budget.acquire('audit'),
      states: () => this.#accounts.keys(),
      nextBatch: (count) => this.#nextAuditBatch(count),
      reread: (accounts) => this.#reread(accounts),
      restart: (account) => {
        denyRecorded(account);
        options.reassign(account);
      },
      onClockUpdate: (commitment, update) => this.#onClockUpdate(commitment, update),
      onLost: () => {
        for (const account of this.#accounts.keys()) endRecorded(account);
        this.#accounts.clear();
        this.#syncing.clear();
        this.#toRead.clear();
        this.#unproven.clear();
        this.#processed.clear();
      },
    });
  }

  get size(): number {
    return this.#accounts.size;
  }

  get syncing(): number {
    return this.#syncing.size;
  }

  add(account: AccountState): void {
    const { pubsub } = this.#options;
    const { address, commitment } = account;
    account.attach(this.sessionAudit.watermarkOf(commitment));
    const entry = new SessionAccount(this, account);
    this.#accounts.set(account, entry);
    this.#syncing.add(entry);
    if (commitment === 'processed') this.#processed.add(account);
    entry.subscription = pubsub.subscribe('accountSubscribe', [address, { encoding: 'jsonParsed', commitment }], entry);
  }

  remove(account: AccountState): void {
    const entry = this.#accounts.get(account);
    if (entry === undefined) return;
    this.#accounts.delete(account);
    this.#syncing.delete(entry);
    this.#toRead.delete(entry);
    this.#unproven.delete(entry);
    this.#processed.delete(account);
    entry.subscription?.stop();
    endRecorded(account);
    account.detach();
  }

  onAcknowledged(entry: SessionAccount): void {
    entry.account.onSyncEvent({ name: 'acknowledged', marginSlots: this.#marginSlots });
    this.#readIfNeeded(entry);
  }

  get #marginSlots(): number {
    const { pubsub, slotTimeMs } = this.#options;
    return marginSlotsOf(pubsub.isPooled, slotTimeMs());
  }

  onNotification(entry: SessionAccount, slot: Slot, value: Buffer): void {
    const { account } = entry;
    const json = this.#decodeOrMarkIneligible(account, value);
    if (json === undefined) return;
    const leasedSlot = account.lease?.slot;
    this.#rollbackIfForked(account, slot);
    if (account.commitment !== 'processed') this.#unproven.set(entry, slot);
    this.#handleResult(account, account.onNotification(slot, json), slot, leasedSlot);
    this.#record(account);
  }

  onRejected({ account }: SessionAccount): void {
    this.#markIneligible(account, new GatewayError('upstream_error', 'the node rejects a subscription to the account'));
  }

  onRefused({ account }: SessionAccount): void {
    this.#options.reassign(account);
  }

  #onClockUpdate(commitment: Commitment, update: ClockUpdate): void {
    const { slot, provenFrom } = update;
    if (commitment === 'processed') for (const account of this.#processed) this.#rollbackIfForked(account, slot);
    else this.#prove(commitment, slot, provenFrom);
    const event = clockEventOf(update, this.#options.pubsub.isPooled);
    for (const entry of this.#syncing) {
      if (entry.account.commitment !== commitment) continue;
      entry.account.onSyncEvent(event);
      this.#record(entry.account);
      this.#readIfNeeded(entry);
    }
  }

  /** A node evaluates the subscriptions of one slot in no order, but all before those of the next one. */
  #prove(commitment: Commitment, clockSlot: Slot, provenFrom: Slot): void {
    for (const [entry, slot] of this.#unproven) {
      const { account } = entry;
      if (account.commitment !== commitment || slot >= clockSlot) continue;
      this.#unproven.delete(entry);
      if (account.onProof(provenFrom)) continue;
      account.resync(this.#marginSlots + provenFrom - clockSlot); // what was notified may be of its newest root
      endRecorded(account);
      this.#syncing.add(entry);
      this.#readIfNeeded(entry);
    }
  }

  #readIfNeeded(entry: SessionAccount): void {
    if (entry.account.pendingReadMinSlot === undefined || entry.isReading) return;
    this.#toRead.add(entry);
    if (this.#isReading) return;
    this.#isReading = true;
    setImmediate(() => void this.#readAll()); // with all others of this turn
  }

  async #readAll(): Promise<void> {
    try {
      while (this.#toRead.size > 0) {
        await this.#options.budget.acquire('sync');
        const batch = this.#nextReadBatch();
        if (batch.length === 0) break; // all have left since
        const reads = this.#syncReads.readBatch(batch.map(({ account }) => queryOf(account)));
        for (const [i, read] of reads.entries()) {
          const entry = batch[i];
          if (entry !== undefined) this.#applyRead(entry, read);
        }
      }
    } finally {
      this.#isReading = false;
    }
  }

  #nextReadBatch(): SessionAccount[] {
    const batch: SessionAccount[] = [];
    let scanned = 0;
    for (const entry of this.#toRead) {
      if (batch.length === MAX_BATCH || ++scanned > MAX_SCANNED) break;
      if (batch[0] !== undefined && batch[0].account.commitment !== entry.account.commitment) continue;
      entry.isReading = true;
      batch.push(entry);
    }
    for (const entry of batch) this.#toRead.delete(entry);
    return batch;
  }

  #applyRead(entry: SessionAccount, reading: Promise<AccountRead>): void {
    const { account } = entry;
    const isAttached = (): boolean => this.#accounts.get(account) === entry;
    reading
      .then(({ slot, provenFrom, account: current }) => {
        entry.isReading = false;
        if (!isAttached()) return;
        const json = this.#decodeOrMarkIneligible(account, current);
        if (json === undefined) return;
        this.#handleResult(account, account.onRead(slot, json, provenFrom), slot);
        this.#record(account);
        if (!isSynced(account)) return;
        this.#syncing.delete(entry);
        this.#options.onRoom();
      })
      .catch((thrown: unknown) => {
        entry.isReading = false;
        const reason = GatewayError.from(thrown);
        const isPermanent = isRefusal(reason) || reason.code === 'internal_error';
        if (isPermanent && isAttached()) this.#markIneligible(account, reason); // else the read is still needed
      });
  }

  /** Returns leased accounts of one commitment, those first whose turn was longest ago, and puts them last. */
  #nextAuditBatch(count: number): readonly AccountState[] {
    const batch: SessionAccount[] = [];
    let scanned = 0;
    for (const entry of this.#accounts.values()) {
      if (batch.length === Math.min(count, MAX_BATCH) || (batch.length > 0 && ++scanned > MAX_SCANNED)) break;
      const { lease, commitment, isSeconded } = entry.account;
      if (lease === undefined || isSeconded || (batch[0] !== undefined && batch[0].account.commitment !== commitment))
        continue;
      batch.push(entry);
    }
    for (const entry of batch) {
      this.#accounts.delete(entry.account);
      this.#accounts.set(entry.account, entry);
    }
    return batch.map(({ account }) => account);
  }

  async #reread(accounts: readonly AccountState[]): Promise<readonly (AuditRead | undefined)[]> {
    const queries = accounts.map(({ address, commitment }) => unboundedQuery(address, commitment));
    const reads = await Promise.allSettled(this.#auditReads.readBatch(queries));
    return reads.map((read, i) => {
      const account = accounts[i];
      if (read.status === 'rejected' || account === undefined) return undefined; // the next audit tries again
      const deciding = this.#decidingReads;
      if (!this.#isComparable(account, read.value, deciding === undefined)) return undefined;
      const audited = auditReadOf(account, read.value, deciding !== undefined, this.#options.pubsub.isPooled);
      if (audited === undefined || deciding === undefined) return audited;
      return { ...audited, settle: () => this.#settle(deciding, account, audited.slot) };
    });
  }

  /** Reads an account of several operators; undefined if no two of them agree. */
  async #settle(reads: AccountBatcher, account: AccountState, slot: Slot): Promise<AuditRead | undefined> {
    const agree = decidingOf(this.#options.agreement?.operators ?? 1);
    const query = { ...unboundedQuery(account.address, account.commitment), minContextSlot: slot, agree };
    const read = await reads.read(query);
    if (agreedAt(read.agreement, read.slot) < 2 || !this.#isComparable(account, read, true)) return undefined;
    return auditReadOf(account, read, true);
  }

  /** Returns false for what is too long to be compared in a turn. If `counts`, the account is no longer kept live. */
  #isComparable(account: AccountState, read: AccountRead, counts: boolean): boolean {
    const isComparable = (read.account?.length ?? 0) <= Math.max(MAX_COMPARED_BYTES, this.#options.maxAccountBytes);
    if (!isComparable && counts) this.#markIneligible(account, tooLargeError());
    return isComparable;
  }

  #rollbackIfForked(account: AccountState, slot: Slot): void {
    if (account.commitment !== 'processed' || !this.#options.pubsub.isOnAnotherFork(account.slot, slot)) return;
    this.#handleResult(account, account.rollback(), slot);
  }

  /** Too large, or not decodable: to read it again would most likely give the same, and use the requests of others. */
  #decodeOrMarkIneligible(account: AccountState, bytes: Buffer | null): AccountJson | undefined {
    const isTooLarge = (bytes?.length ?? 0) > this.#options.maxAccountBytes;
    const json = isTooLarge ? undefined : decodeAccountJson(bytes);
    if (json === undefined) this.#markIneligible(account, isTooLarge ? tooLargeError() : undecodableError());
    return json;
  }

  #handleResult(account: AccountState, result: UpdateResult, slot: Slot, leasedSlot?: Slot): void {
    if (result === 'late') this.sessionAudit.invalidate(account, { leased: leasedSlot, notified: slot });
    else if (result !== 'ignored' && result !== 'unchanged') this.#options.onChange(account, result, slot);
  }

  #record(account: AccountState): void {
    const { ring } = this.#options;
    if (ring !== undefined) recordAccount(ring, account);
  }

  #markIneligible(account: AccountState, reason: GatewayError): void {
    this.remove(account);
    this.#options.onIneligible(account, reason);
    this.#options.onRoom();
  }
}

/**
 * Returns what an account was re-read as; undefined if it can't be compared. `isOfOperator`: another operator has read it, whose
 * parser may be another one. `isOfAnother`: another node may have read it, whose newest root may be another one.
 */
function auditReadOf(
  account: AccountState,
  read: AccountRead,
  isOfOperator: boolean,
  isOfAnother = isOfOperator,
): AuditRead | undefined {
  const { slot, provenFrom = slot } = read;
  const json = decodeAccountJson(read.account);
  const isDated = (isOfOperator || isOfAnother) && account.commitment === 'finalized';
  const isUnproven = (): boolean => isDated && slot < account.provenFrom;
  if (json === undefined || (isDated && provenFrom > slot) || isUnproven()) return undefined;
  const isSame = (): boolean => isSameAccount(json, account.json);
  if (!isOfOperator) return { slot, isUnchanged: () => isUnproven() || isSame() };
  const contradiction = () =>
    contradictionOf(factsOfAccount(accountBytes(account.json)), factsOfAccount(accountBytes(json)));
  return { slot, isUnchanged: () => isUnproven() || isSame() || contradiction() === undefined, isSame, contradiction };
}

/** An account on a session: all that the session keeps of it, in one object, since there may be very many. */
class SessionAccount implements SubscriptionHandler {
  readonly account: AccountState;
  subscription: PubsubSubscription | undefined = undefined;
  isReading = false;
  readonly #session: AccountSession;

  constructor(session: AccountSession, account: AccountState) {
    this.#session = session;
    this.account = account;
  }

  onAcknowledged(): void {
    this.#session.onAcknowledged(this);
  }

  onNotification(slot: Slot, value: Buffer): void {
    this.#session.onNotification(this, slot, value);
  }

  onRejected(): void {
    this.#session.onRejected(this);
  }

  onRefused(): void {
    this.#session.onRefused(this);
  }
}

const unboundedQuery = (address: string, commitment: Commitment): AccountQuery => ({
  address,
  commitment,
  shape: 'parsed',
  minContextSlot: undefined,
});

const queryOf = ({ address, commitment, pendingReadMinSlot = 0 }: AccountState): AccountQuery => ({
  ...unboundedQuery(address, commitment),
  minContextSlot: pendingReadMinSlot > 0 ? pendingReadMinSlot : undefined,
});

export const tooLargeError = (): GatewayError =>
  new GatewayError('result_too_large', 'the account is too large to be kept live');

const undecodableError = (): GatewayError =>
  new GatewayError('upstream_error', 'the node sent something that is not an account');
