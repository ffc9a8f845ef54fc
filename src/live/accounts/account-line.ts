import type { Commitment } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/error.ts';
import type { Slot } from '../../domain/slot.ts';
import { AccountBatcher, type AccountRead } from '../../upstream/reads/account-batcher.ts';
import { Claims, type LineOptions } from '../claims.ts';
import { isSameAccount, keep } from './account-text.ts';
import type { AccountText, News, WatchedAccount } from './watched-account.ts';

export interface AccountLineOptions extends LineOptions<WatchedAccount> {
  /** The longest account that is kept, in bytes of its JSON. */
  readonly maxAccountBytes: number;
  /** There is news of an account, or what is known of it was taken back. */
  onNews(account: WatchedAccount, news: News, slot: Slot): void;
  /** No more is heard of an account. */
  onBarred(account: WatchedAccount, reason: GatewayError): void;
}

/** One connection, and the accounts that are watched over it. */
export class AccountLine {
  readonly #options: AccountLineOptions;
  readonly #reader: AccountBatcher;
  readonly #accounts = new Map<WatchedAccount, () => void>();
  readonly #claims: Claims<WatchedAccount>;
  readonly #arming = new Set<WatchedAccount>();
  readonly #reading = new Set<WatchedAccount>();

  constructor(options: AccountLineOptions) {
    this.#options = options;
    this.#reader = new AccountBatcher(options.line);
    this.#claims = new Claims({
      over: options,
      watched: () => this.#accounts.keys(),
      readAgain: async (account) => {
        const reading = await this.#readFrom(account, undefined);
        return { slot: reading.slot, isSame: () => isSameAccount(keep(reading.account), account.text) };
      },
      onBeat: (commitment, { slot }) => this.#beat(commitment, slot),
      onLost: () => {
        this.#accounts.clear();
        this.#arming.clear();
      },
    });
  }

  get room(): number {
    return this.#options.line.capacity;
  }

  get size(): number {
    return this.#accounts.size;
  }

  has(account: WatchedAccount): boolean {
    return this.#accounts.has(account);
  }

  add(account: WatchedAccount): void {
    const { line } = this.#options;
    const { address, commitment } = account;
    account.join(this.#claims.of(commitment));
    this.#arming.add(account);
    const params = [address, { encoding: 'jsonParsed', commitment }];
    const stop = line.subscribe('accountSubscribe', params, {
      onAcknowledged: () => {
        account.step({ name: 'acknowledged', pooled: line.isPooled });
        void this.#read(account);
      },
      onNotification: (slot, value) => this.#tell(account, slot, value),
      onRejected: () =>
        this.#bar(account, new GatewayError('upstream_error', 'the node refuses to tell of the account')),
    });
    this.#accounts.set(account, stop);
  }

  remove(account: WatchedAccount): void {
    this.#accounts.get(account)?.();
    this.#accounts.delete(account);
    this.#arming.delete(account);
    account.leave();
  }

  /** The cluster has moved on: is this node still with it? */
  compare(commitment: Commitment): void {
    this.#claims.compare(commitment);
  }

  /** Reads again all that is kept live, and compares. Resolves to how many were compared. */
  audit(): Promise<number> {
    return this.#claims.audit();
  }

  #beat(commitment: Commitment, slot: Slot): void {
    if (commitment === 'processed') for (const account of this.#accounts.keys()) this.#checkFork(account, slot);
    for (const account of this.#arming) {
      if (account.commitment !== commitment) continue;
      account.step({ name: 'beacon', slot });
      void this.#read(account);
    }
  }

  /** Reads what an account wants to know. One that fails is read again at the next beacon. */
  async #read(account: WatchedAccount): Promise<void> {
    const { wants } = account;
    if (wants === undefined || this.#reading.has(account)) return;
    this.#reading.add(account);
    try {
      const reading = await this.#readFrom(account, wants > 0 ? wants : undefined);
      const text = keep(reading.account);
      if (!this.has(account)) return;
      if (this.#isTooLarge(text)) this.#bar(account, tooLarge());
      else this.#report(account, account.read(reading.slot, text), reading.slot);
      if (account.isLive) this.#arming.delete(account);
    } catch {
      // wanted still
    } finally {
      this.#reading.delete(account);
    }
  }

  #readFrom({ address, commitment }: WatchedAccount, minContextSlot: Slot | undefined): Promise<AccountRead> {
    return this.#reader.read({ address, commitment, shape: 'parsed', minContextSlot });
  }

  #tell(account: WatchedAccount, slot: Slot, value: Buffer): void {
    const text = keep(value);
    const claimed = account.held?.slot;
    if (this.#isTooLarge(text)) this.#bar(account, tooLarge());
    else {
      this.#checkFork(account, slot);
      this.#report(account, account.told(slot, text), slot, claimed);
    }
  }

  /** What was processed on a fork that the node has left was never so. */
  #checkFork(account: WatchedAccount, slot: Slot): void {
    if (account.commitment !== 'processed' || !this.#options.line.isOnAnotherFork(account.slot, slot)) return;
    this.#report(account, account.takeBack(), slot);
  }

  #isTooLarge(text: AccountText): boolean {
    return text !== null && text.length > this.#options.maxAccountBytes;
  }

  #report(account: WatchedAccount, news: News, slot: Slot, claimed?: Slot): void {
    if (news === 'late') this.#claims.distrust(account, { claimed, told: slot });
    else if (news !== 'none' && news !== 'same') this.#options.onNews(account, news, slot);
  }

  #bar(account: WatchedAccount, reason: GatewayError): void {
    this.remove(account);
    this.#options.onBarred(account, reason);
  }
}

const tooLarge = (): GatewayError => new GatewayError('result_too_large', 'the account is too large to be followed');
