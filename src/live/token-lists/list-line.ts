import type { Commitment } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/error.ts';
import { SLOT_MS, type Slot } from '../../domain/slot.ts';
import { TOKEN_PROGRAMS } from '../../solana/accounts/token.ts';
import { isShownBy } from '../../tokens/mints.ts';
import { isSameList, readTokenList, type TokenList, type TokenListReading } from '../../tokens/token-list.ts';
import type { ClockUpdate, SubscriptionHandler } from '../../upstream/pubsub/pubsub-session.ts';
import { parseEncodedAccount } from '../../upstream/reads/encoded-accounts.ts';
import { Claims, type LineOptions } from '../claims.ts';
import { Wait } from '../wait.ts';
import { SharedSubscriptions } from './shared-subscriptions.ts';
import type { WatchedList } from './watched-list.ts';

export interface ListLineOptions extends LineOptions<WatchedList> {
  /** A list with more accounts is not kept live. */
  readonly maxMembers: number;
  /** There is no room on this connection for all that a list has become. */
  onCrowded(list: WatchedList): void;
}

/** The subscriptions of one list. */
interface Subscribed {
  /** Of the accounts that it names, and their mints. */
  readonly accounts: Map<string, () => void>;
  readonly programs: (() => void)[];
  /** How many have not been acknowledged. */
  pending: number;
  isBeingRead: boolean;
}

/** Readers wait so long for a reading of the line's node; then they are better off with the others. */
const PATIENCE_MS = SLOT_MS;

/** Where a token account names its owner: https://github.com/solana-program/token/blob/main/interface/src/state.rs */
const OWNER_OFFSET = 32;

/**
 * One connection, and the token lists that are watched over it. A program's subscription tells of new and changed
 * accounts of an owner; that of the account itself tells when it is closed or given away; that of a mint, when amounts
 * come to be shown otherwise.
 */
export class ListLine {
  readonly #options: ListLineOptions;
  readonly #lists = new Map<WatchedList, Subscribed>();
  readonly #subscriptions: SharedSubscriptions;
  readonly #claims: Claims<WatchedList>;

  constructor(options: ListLineOptions) {
    this.#options = options;
    this.#subscriptions = new SharedSubscriptions(options.line);
    this.#claims = new Claims({
      over: options,
      watched: () => this.#lists.keys(),
      readAgain: async (watched) => {
        const { slot, agree, list } = await this.#readFrom(watched, undefined);
        return agree ? { slot, isSame: () => watched.list !== undefined && isSameList(list, watched.list) } : undefined;
      },
      onBeat: (commitment, beacon) => this.#beat(commitment, beacon),
      onLost: () => {
        for (const list of this.#lists.keys()) list.reading?.end();
        this.#lists.clear();
      },
    });
  }

  get room(): number {
    return this.#options.line.capacity;
  }

  get size(): number {
    return this.#lists.size;
  }

  add(list: WatchedList): void {
    const { owner, commitment } = list;
    const programs = Object.values(TOKEN_PROGRAMS);
    if (this.room < programs.length) {
      this.#bar(list);
      return;
    }
    const subscribed: Subscribed = { accounts: new Map(), programs: [], pending: programs.length, isBeingRead: false };
    this.#lists.set(list, subscribed);
    list.join(this.#claims.of(commitment));
    const filters = [{ memcmp: { offset: OWNER_OFFSET, bytes: owner } }];
    for (const program of programs) {
      const params = [program, { encoding: 'base64', commitment, filters }];
      const watcher = this.#watcher(list, (slot) => this.#tell(list, slot));
      subscribed.programs.push(this.#subscriptions.subscribe('programSubscribe', params, watcher));
    }
  }

  remove(list: WatchedList): void {
    const { accounts, programs } = this.#lists.get(list) ?? {};
    this.#lists.delete(list);
    for (const stop of [...(accounts?.values() ?? []), ...(programs ?? [])]) stop();
    if (accounts === undefined) return;
    list.leave();
    list.reading?.end();
  }

  compare(commitment: Commitment): void {
    this.#claims.compare(commitment);
  }

  /** Reads again all that is kept live, and compares. Resolves to how many were compared. */
  audit(): Promise<number> {
    return this.#claims.audit();
  }

  #beat(commitment: Commitment, { slot, previous }: ClockUpdate): void {
    // Behind a slot that was skipped, or that a late node never told of: a program tells of no change after its slot.
    const isGap = previous !== undefined && slot > previous + 1;
    for (const list of this.#lists.keys()) {
      if (list.commitment !== commitment) continue;
      list.step({ name: 'beacon', slot });
      if (isGap) this.#tell(list, slot);
      this.#read(list);
    }
  }

  /** Reads a list that wants to be read. When that fails, it is read again at the next beacon. */
  #read(list: WatchedList): void {
    const subscribed = this.#lists.get(list);
    if (list.wants === undefined || subscribed === undefined || subscribed.isBeingRead) return;
    const wait = new Wait(this.#options.clock, PATIENCE_MS);
    list.reading = wait;
    subscribed.isBeingRead = true;
    void this.#readWhileWanted(list, subscribed).finally(() => {
      subscribed.isBeingRead = false;
      wait.end();
    });
  }

  /** What is read when the list has gone to another line meanwhile, or comes back to this one, tells nothing. */
  async #readWhileWanted(list: WatchedList, subscribed: Subscribed): Promise<void> {
    const isHere = (): boolean => this.#lists.get(list) === subscribed;
    try {
      for (let wants = list.wants; wants !== undefined && isHere(); wants = list.wants) {
        const { slot, agree, list: read } = await this.#readFrom(list, wants);
        if (!agree || slot < wants || !isHere()) return;
        if (read.followsClock || read.held.length > this.#options.maxMembers) this.#bar(list);
        else if (this.#cover(list, read)) list.read(slot, read);
      }
    } catch (thrown) {
      if (isHopeless(thrown) && isHere()) this.#bar(list);
    }
  }

  #readFrom(watched: WatchedList, minContextSlot: Slot | undefined): Promise<TokenListReading> {
    const { owner, commitment, list: known } = watched;
    return readTokenList(this.#options.line, { owner, commitment, minContextSlot, known });
  }

  /** Subscribes to what a list has come to name. False when its silence means nothing as yet. */
  #cover(list: WatchedList, { held }: TokenList): boolean {
    const subscribed = this.#lists.get(list);
    if (subscribed === undefined) return false;
    const mints = new Set(held.map(({ token }) => token.mint));
    const named = new Set([...held.map(({ address }) => address), ...mints]);
    for (const [address, stop] of subscribed.accounts) {
      if (named.has(address)) continue;
      stop();
      subscribed.accounts.delete(address);
    }
    const missing = [...named].filter((address) => !subscribed.accounts.has(address));
    if (missing.length === 0) return true;
    list.rearm(subscribed.programs.length + named.size);
    const { commitment } = list;
    const paramsOf = (address: string) => [address, { encoding: 'base64', commitment }];
    const wanted = missing.filter((address) => !this.#subscriptions.has('accountSubscribe', paramsOf(address)));
    if (wanted.length > this.room) {
      if (this.size === 1) this.#bar(list);
      else this.#options.onCrowded(list);
      return false;
    }
    subscribed.pending += missing.length;
    for (const address of missing) {
      const isMint = mints.has(address);
      const watcher = this.#watcher(list, (slot, value) => {
        if (!isMint || !isShownAlike(list, address, value)) this.#tell(list, slot);
      });
      subscribed.accounts.set(address, this.#subscriptions.subscribe('accountSubscribe', paramsOf(address), watcher));
    }
    return false;
  }

  #watcher(list: WatchedList, onNotification: SubscriptionHandler['onNotification']): SubscriptionHandler {
    return {
      onAcknowledged: () => {
        const subscribed = this.#lists.get(list);
        if (subscribed === undefined || --subscribed.pending > 0) return;
        list.step({ name: 'acknowledged', pooled: this.#options.line.isPooled });
        this.#read(list);
      },
      onNotification,
      onRejected: () => this.#bar(list),
    };
  }

  #tell(list: WatchedList, slot: Slot): void {
    const claimed = list.held?.slot;
    if (!list.told(slot, () => this.#read(list))) this.#claims.distrust(list, { claimed, told: slot });
  }

  /** No more is heard of a list that is too long, or that a node refuses to tell of: it is read when it is asked for. */
  #bar(list: WatchedList): void {
    this.remove(list);
    list.bar(this.#options.tip('processed') ?? 0);
  }
}

/** True when a mint has changed only in what a list doesn't show, such as its supply. */
const isShownAlike = ({ held, list }: WatchedList, mint: string, account: Buffer): boolean =>
  held !== undefined && isShownBy(parseEncodedAccount(account), list?.scales.get(mint));

/** True of a refusal that asking again won't change. */
function isHopeless(thrown: unknown): boolean {
  if (!(thrown instanceof GatewayError)) return true;
  return thrown.code === 'result_too_large' || (thrown.code === 'rpc_error' && thrown.status !== 503);
}
