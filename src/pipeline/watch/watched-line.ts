import type { Slot } from '../../domain/answer.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Commitment } from '../../domain/commitment.ts';
import { Accounts } from '../../upstream/accounts.ts';
import type { Line } from '../../upstream/line.ts';
import { isSameAccount, keep } from './account-text.ts';
import { Doubts } from './doubts.ts';
import { Marks } from './marks.ts';
import type { News, WatchedAccount } from './watched-account.ts';

export interface WatchedLineOptions {
  readonly line: Line;
  readonly clock: Clock;
  /** The longest account that is kept, in bytes of its JSON. */
  readonly maxAccountBytes: number;
  /** The newest slot that the whole cluster has shown. */
  tip(commitment: Commitment): Slot | undefined;
  /** There is news of an account, or what is known of it was taken back. */
  onNews(account: WatchedAccount, news: News, slot: Slot): void;
  /** The proofs of all accounts at a commitment have moved on. */
  onMoved(): void;
  /** A claim was false: the node broke the order that the claims rest on, or we did. */
  onFalseClaim(account: WatchedAccount): void;
  onLost(accounts: Iterable<WatchedAccount>, reason: string): void;
}

/** One connection, and the accounts that are watched over it. */
export class WatchedLine {
  readonly #options: WatchedLineOptions;
  readonly #reader: Accounts;
  readonly #accounts = new Map<WatchedAccount, () => void>();
  readonly #marks: Marks;
  readonly #arming = new Set<WatchedAccount>();
  readonly #reading = new Set<WatchedAccount>();
  readonly #doubts = new Doubts<WatchedAccount>();

  constructor(options: WatchedLineOptions) {
    const { line, clock, tip } = options;
    this.#options = options;
    this.#reader = new Accounts(line);
    this.#marks = new Marks({
      line,
      clock,
      tip,
      onBeat: (commitment, { slot }) => this.#beat(commitment, slot),
      onLost: (reason) => this.#lose(reason),
    });
  }

  get room(): number {
    return this.#options.line.room;
  }

  get size(): number {
    return this.#accounts.size;
  }

  has(account: WatchedAccount): boolean {
    return this.#accounts.has(account);
  }

  add(account: WatchedAccount): void {
    const { address, commitment } = account;
    account.join(this.#marks.of(commitment));
    this.#arming.add(account);
    const params = [address, { encoding: 'jsonParsed', commitment }];
    const stop = this.#options.line.subscribe('accountSubscribe', params, {
      acknowledged: () => {
        account.step({ name: 'acknowledged' });
        void this.#read(account);
      },
      notify: (slot, value) => this.#tell(account, slot, value),
      refused: () => this.#bar(account),
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
    this.#marks.compare(commitment);
  }

  /** Reads again all that is kept live, and compares. Resolves to how many were compared. */
  async audit(): Promise<number> {
    const live = [...this.#accounts.keys()].filter(({ held }) => held !== undefined);
    const compared = await Promise.all(live.map((account) => this.#audit(account)));
    return compared.filter((isCompared) => isCompared).length;
  }

  async #audit(account: WatchedAccount): Promise<boolean> {
    const { address, commitment } = account;
    try {
      const query = { address, commitment, shape: 'parsed', minContextSlot: undefined } as const;
      const reading = await this.#reader.read(query);
      const { slot } = reading;
      if (account.held === undefined || slot < account.slot) return false; // read before what is kept
      if (isSameAccount(keep(reading.account), account.text)) return true;
      this.#doubts.add(account, slot);
      this.#resolveDoubts();
      return true;
    } catch {
      return false; // the node may not answer now; the next audit comes
    }
  }

  #resolveDoubts(): void {
    const wrong = this.#doubts.resolve();
    if (wrong !== undefined) this.#distrust(wrong);
  }

  #beat(commitment: Commitment, slot: Slot): void {
    for (const account of this.#arming) {
      if (account.commitment !== commitment) continue;
      account.step({ name: 'beacon', slot });
      void this.#read(account);
    }
    this.#resolveDoubts();
    if (commitment !== 'processed') this.#options.onMoved();
  }

  /** Reads what an account wants to know. One that fails is read again at the next beacon. */
  async #read(account: WatchedAccount): Promise<void> {
    const { address, commitment, wants } = account;
    if (wants === undefined || this.#reading.has(account)) return;
    this.#reading.add(account);
    try {
      const query = { address, commitment, shape: 'parsed', minContextSlot: wants > 0 ? wants : undefined } as const;
      const reading = await this.#reader.read(query);
      const text = keep(reading.account);
      if (!this.has(account)) return;
      if (text !== null && text.length > this.#options.maxAccountBytes) this.#bar(account);
      else this.#report(account, account.read(reading.slot, text), reading.slot);
      if (account.isLive) this.#arming.delete(account);
    } catch {
      // wanted still
    } finally {
      this.#reading.delete(account);
    }
  }

  #tell(account: WatchedAccount, slot: Slot, value: Buffer): void {
    const text = keep(value);
    if (text !== null && text.length > this.#options.maxAccountBytes) this.#bar(account);
    else this.#report(account, account.told(slot, text), slot);
  }

  #report(account: WatchedAccount, news: News, slot: Slot): void {
    if (news === 'late') this.#distrust(account);
    else if (news !== 'none' && news !== 'same') this.#options.onNews(account, news, slot);
  }

  /** No more is heard of an account that a node refuses to tell of, or that is too large. It is not tried again. */
  #bar(account: WatchedAccount): void {
    this.remove(account);
  }

  /** Nothing that was kept over this connection is served any more. */
  #distrust(account: WatchedAccount): void {
    this.#marks.disown();
    for (const kept of this.#accounts.keys()) kept.forget();
    this.#options.onFalseClaim(account);
    this.#options.line.close();
  }

  #lose(reason: string): void {
    const accounts = [...this.#accounts.keys()];
    this.#accounts.clear();
    this.#arming.clear();
    this.#doubts.clear();
    this.#options.onLost(accounts, reason);
  }
}
