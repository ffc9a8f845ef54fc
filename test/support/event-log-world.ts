import { chainDigest, EventChain } from '../../src/client/verify/event-chain.ts';
import { EventLog } from '../../src/gateway/http/events/event-log.ts';
import { type EventPage, slotReached, type TopicEvent } from '../../src/gateway/http/events/event-page.ts';
import { accountBytes, textOfKept, unparsedJsonOf } from '../../src/gateway/live/accounts/account-json.ts';
import type { Coverage, History } from '../../src/gateway/live/feed/history.ts';
import type { KeptAccount } from '../../src/gateway/live/feed/kept-account.ts';
import { VersionRing } from '../../src/gateway/live/feed/version-ring.ts';
import { digestOf } from '../../src/gateway/receipts/digest.ts';
import type { AccountValue } from '../../src/gateway/upstream/geyser/feed-update.ts';
import type { Commitment } from '../../src/shared/domain/commitment.ts';
import type { Slot } from '../../src/shared/domain/slot.ts';
import { addressFromByte } from './token-account-fixtures.ts';

const ADDRESSES = [addressFromByte(51), addressFromByte(52)];
const TOPICS = ADDRESSES.map((address) => ({ name: 'balance' as const, address }));

/** What happens to the ledger, to one of two processes, or between one and the reader. */
export type Step =
  | { readonly kind: 'block'; readonly slots: number; readonly writes: readonly AccountWrite[] }
  | {
      readonly kind: 'begin';
      readonly process: number;
      readonly account: number;
      readonly lag: number;
      readonly isFeed: boolean;
    }
  | { readonly kind: 'follow'; readonly process: number; readonly account: number; readonly isEach: boolean }
  | { readonly kind: 'lose'; readonly process: number; readonly account: number }
  | { readonly kind: 'forget'; readonly process: number }
  | { readonly kind: 'read'; readonly process: number; readonly most: number };

interface AccountWrite {
  readonly account: number;
  readonly lamports: number;
}

/** Rejects if the reader gets what it must not, misses something, or begins with something old. */
export async function runSteps(steps: readonly Step[], commitment: Commitment = 'confirmed'): Promise<void> {
  const ledger = new Ledger();
  const processes = [new FollowingProcess(ledger), new FollowingProcess(ledger)] as const;
  const reader = new CheckingReader(ledger, commitment);
  for (const step of steps) {
    const process = step.kind !== 'block' && step.process === 1 ? processes[1] : processes[0];
    if (step.kind === 'block') ledger.addBlock(step.slots, step.writes);
    else if (step.kind === 'begin') process.begin(step.account, step.lag, step.isFeed);
    else if (step.kind === 'follow') process.follow(step.account, step.isEach);
    else if (step.kind === 'lose') process.lose(step.account);
    else if (step.kind === 'forget') process.forget();
    else await reader.read(process, step.most);
  }
}

interface Write {
  readonly slot: Slot;
  readonly lamports: number;
}

/** What each of two accounts was at each slot. */
class Ledger {
  tip: Slot = 0;
  readonly #writes: readonly Write[][] = ADDRESSES.map(() => [{ slot: 0, lamports: 0 }]);

  /** Adds a block, with at most one write of each account; the slots before it have none. */
  addBlock(slots: number, writes: readonly AccountWrite[]): void {
    this.tip += slots;
    for (const { account, lamports } of writes)
      if (this.at(account, this.tip).slot < this.tip) this.#writes[account]?.push({ slot: this.tip, lamports });
  }

  at(account: number, slot: Slot): Write {
    return this.#writes[account]?.findLast((write) => write.slot <= slot) ?? { slot: 0, lamports: 0 };
  }

  writes(account: number, after: Slot, upTo: Slot): readonly Write[] {
    return (this.#writes[account] ?? []).filter(({ slot }) => slot > after && slot <= upTo);
  }

  /** Returns the first slot of some at which the balance is another one than before. */
  changeIn(account: number, after: Slot, upTo: Slot): Slot | undefined {
    return this.writes(account, after, upTo).find(
      ({ slot, lamports }) => this.at(account, slot - 1).lamports !== lamports,
    )?.slot;
  }
}

interface Source {
  readonly isFeed: boolean;
  readonly history: History<KeptAccount>;
  readonly coverage: { -readonly [K in keyof Coverage]: Coverage[K] };
}

/** The slots between the tip and what is final. */
const FINAL_LAG = 4;

/** The blocks that a feed sends again. */
const REPLAYED = 6;

/** A process that follows the accounts over a feed, or over sessions whose node may leave writes out, and keeps them for 12 slots. */
class FollowingProcess {
  readonly log: EventLog;
  readonly #ledger: Ledger;
  readonly #ring = new VersionRing<KeptAccount>({ bytes: 1 << 20, slots: 12 }, () => 100);
  readonly #sources = new Map<number, Source>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
    this.log = new EventLog({
      ring: this.#ring,
      liveAccounts: {
        readLive: ({ address, commitment }) => {
          const account = ADDRESSES.indexOf(address);
          const { history, isFeed = false } = this.#sources.get(account) ?? {};
          const slot = this.knownSlot(account, commitment);
          if (history === undefined || slot === undefined) return undefined;
          const { slot: sinceSlot, value } = history.newest;
          if (commitment === 'confirmed') return { slot, sinceSlot, account: accountBytes(textOfKept(value)) };
          const final = ledger.at(account, slot);
          return { slot, sinceSlot: slot, account: accountBytes(textOfKept(this.#valueOf(final, isFeed))) };
        },
      },
      feed: {
        isStarting: false,
        replay: async ({ addresses, until }) => {
          const from = Math.max(0, ledger.tip - REPLAYED);
          const versionsOf = (address: string) =>
            ledger
              .writes(ADDRESSES.indexOf(address), from, until)
              .map((write) => ({ slot: write.slot, value: toValue(write) }));
          if (from >= until) return undefined;
          return { from, until, versions: new Map(addresses.map((address) => [address, versionsOf(address)])) };
        },
      },
      replayBytes: 1 << 20,
    });
  }

  /** Returns the slot at which it knows what an account is; undefined if it does not. */
  knownSlot(account: number, commitment: Commitment): Slot | undefined {
    const { history, coverage, isFeed } = this.#sources.get(account) ?? {};
    if (history === undefined || coverage === undefined || commitment === 'confirmed') return coverage?.slot;
    const final = isFeed ? Math.min(this.#ring.finalizedSlot, coverage.slot) : coverage.slot - FINAL_LAG;
    return final < (isFeed ? history.oldest.slot : 0) ? undefined : final;
  }

  /** Begins to follow an account, as a node reads it that is some slots behind. */
  begin(account: number, lag: number, isFeed: boolean): void {
    if (this.#sources.has(account)) return;
    const slot = Math.max(0, this.#ledger.tip - lag);
    const coverage = { slot, isDenied: false, ...(isFeed && { finalizedSlot: Number.MAX_SAFE_INTEGER }) };
    const first = { slot, value: this.#valueOf(this.#ledger.at(account, slot), isFeed) };
    const history = this.#ring.start({ address: ADDRESSES[account] ?? '', priority: 1 }, coverage, first);
    this.#sources.set(account, { isFeed, history, coverage });
  }

  lose(account: number): void {
    this.#sources.get(account)?.history.end();
    this.#sources.delete(account);
  }

  /** Learns of each write up to the tip, or of the last one alone, as a session may. */
  follow(account: number, isEach: boolean): void {
    const { history, coverage, isFeed = false } = this.#sources.get(account) ?? {};
    if (history === undefined || coverage === undefined) return;
    if (!history.isKept) {
      this.lose(account);
      return;
    }
    const writes = this.#ledger.writes(account, coverage.slot, this.#ledger.tip);
    for (const write of isEach || isFeed ? writes : writes.slice(-1)) {
      const heldUntil = isEach || isFeed ? write.slot - 1 : coverage.slot;
      this.#ring.add(history, { slot: write.slot, value: this.#valueOf(write, isFeed) }, heldUntil);
    }
    coverage.slot = this.#ledger.tip;
  }

  /** Forgets what is too old. */
  forget(): void {
    this.#ring.advance(this.#ledger.tip, Math.max(0, this.#ledger.tip - FINAL_LAG));
  }

  #valueOf(write: Write, isFeed: boolean): KeptAccount {
    return isFeed ? toValue(write) : unparsedJsonOf(toValue(write));
  }
}

/** Each write makes another account, also where the balance stays. */
const toValue = ({ slot, lamports }: Write): AccountValue => ({
  lamports: BigInt(lamports),
  owner: addressFromByte(99),
  executable: false,
  rentEpoch: BigInt(slot),
  data: new Uint8Array(0),
});

/** What receipts have besides what a chain covers. */
const RECEIPT = {
  ...{ v: 2 as const, kid: '', status: 200, claim: 'observed/1' as const, issuedAt: 0, nonce: null },
  ...{ size: 1, index: 0, path: [], sig: '' },
};

/** A reader of both accounts, which throws for an event that is no truth, does not follow the one before or leaves one out. */
class CheckingReader {
  readonly #ledger: Ledger;
  readonly #commitment: Commitment;
  readonly #accounts = ADDRESSES.map(() => ({
    chain: new EventChain(),
    last: undefined as { readonly slot: Slot; readonly digest: string } | undefined,
    /** Up to where each change has come, or was named as missing. */
    reached: undefined as Slot | undefined,
  }));
  #process: FollowingProcess | undefined;
  #since: EventPage['end'] | undefined;
  #held: EventPage['held'];

  constructor(ledger: Ledger, commitment: Commitment) {
    this.#ledger = ledger;
    this.#commitment = commitment;
  }

  /** Reads all that a process has, which may be another one than before, or is cut off behind a number of changes. */
  async read(process: FollowingProcess, most = Number.POSITIVE_INFINITY): Promise<void> {
    if (this.#process !== process) this.#held = undefined;
    this.#process = process;
    for (let isWhole = false; !isWhole; ) {
      const query = { topics: TOPICS, commitment: this.#commitment, since: this.#since, held: this.#held };
      const page: EventPage | undefined = await process.log.read(query);
      if (page === undefined) return;
      if (this.#since === undefined) this.#ensureNew(process, page.covered.slot);
      const isCut = page.events.length > most;
      const named = page.events.slice(0, most);
      const last = named.findLastIndex(
        (event, at) =>
          event.before !== null && // else it has no id
          event.isComplete &&
          // A reader that has a later state than its id says may get what was before that: it begins another chain, as the SDK does.
          named.slice(0, at).every(({ slot, index }) => slot <= slotReached(event, index)),
      );
      const end = isCut ? page.events[last] : page.end;
      if (end === undefined) return;
      for (const event of isCut ? page.events.slice(0, last + 1) : page.events) this.#onEvent(event);
      this.#reach({ slot: end.slot, index: end.index });
      isWhole = page.isWhole || isCut;
      this.#held = isCut ? undefined : page.held;
    }
  }

  /** Ensures that a reader begins with what a read of each account gets. */
  #ensureNew(process: FollowingProcess, slot: Slot): void {
    const known = ADDRESSES.map((_, account) => process.knownSlot(account, this.#commitment) ?? -1);
    if (slot < Math.min(...known)) throw new Error(`${slot} is old: ${known.join()} are known`);
  }

  #reach(end: EventPage['end']): void {
    this.#since = end;
    for (const [i, account] of this.#accounts.entries()) {
      const slot = end.index < i ? end.slot - 1 : end.slot;
      if (account.last === undefined) throw new Error('a topic has no state');
      account.reached ??= slot;
      this.#ensureNoChange(i, account.reached, slot);
      account.reached = Math.max(account.reached, slot);
    }
  }

  #onEvent({ index, slot, result, before, gap }: TopicEvent): void {
    const account = this.#accounts[index];
    if (account === undefined) throw new Error('there is no such topic');
    const { chain, last, reached = slot } = account;
    const receipt = { ...fieldsOf(index, slot, result), ...RECEIPT };
    const previous = before && chainDigest(fieldsOf(index, before.slot, before.result));
    chain.add({ ...receipt, previous }, before ?? undefined);
    // a reader that was cut off gets states again, since they have no id
    const isAgain = before === null && last?.digest === receipt.digest && last.slot === slot;
    const isKnown = isAgain || (before === null && gap === null && last?.digest === receipt.digest);
    if (!isKnown && last !== undefined && slot <= last.slot) throw new Error(`${slot} comes after ${last.slot}`);
    if (JSON.parse(result).lamports !== this.#ledger.at(index, slot).lamports) throw new Error(`${slot} is a lie`);
    if (isAgain) return;
    if (gap !== null && gap.from < reached) throw new Error(`${gap.from} is in no gap: all is known until ${reached}`);
    this.#ensureNoChange(index, reached, gap === null ? slot - 1 : gap.from);
    account.last = { slot: Math.max(slot, last?.slot ?? 0), digest: receipt.digest };
    if (account.reached !== undefined) account.reached = Math.max(slot, reached);
  }

  #ensureNoChange(index: number, after: Slot, upTo: Slot): void {
    const slot = this.#ledger.changeIn(index, after, upTo);
    if (slot !== undefined) throw new Error(`the change at ${slot} is missing`);
  }
}

const fieldsOf = (index: number, slot: Slot, result: string) => ({
  cluster: addressFromByte(1),
  request: `SUB ${ADDRESSES[index]}`,
  commitment: 'confirmed' as const,
  slot,
  digest: digestOf(result),
});
