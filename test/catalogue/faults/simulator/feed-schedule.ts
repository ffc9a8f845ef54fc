import { FEED_RULES, type FeedRules } from '../../../../src/gateway/live/feed/feed-rules.ts';
import { FeedStream } from '../../../../src/gateway/live/feed/feed-stream.ts';
import type { MissedBlock } from '../../../../src/gateway/live/feed/gap.ts';
import { bytesOfAccount, type FeedAccount, type KeptAccount } from '../../../../src/gateway/live/feed/kept-account.ts';
import { VersionRing } from '../../../../src/gateway/live/feed/version-ring.ts';
import type { FeedMode } from '../../../../src/gateway/upstream/geyser/encode-request.ts';
import type {
  AccountValue,
  AccountWrite,
  BlockLink,
  FeedUpdate,
} from '../../../../src/gateway/upstream/geyser/feed-update.ts';
import { seededRng } from '../../../../src/localnet/traffic/seeded-rng.ts';
import type { Slot } from '../../../../src/shared/domain/slot.ts';
import { SYSTEM_PROGRAM } from '../../../../src/shared/domain/well-known-addresses.ts';

type Random = () => number;

function createRandom(seed: number): Random {
  const { intBelow } = seededRng(seed);
  return () => intBelow(2 ** 32) / 2 ** 32;
}

/** A rule of the feed that a control switches off. */
export type FeedRule = 'G0' | 'G1' | 'G2' | 'G3' | 'G4' | 'G5' | 'G6' | 'G7' | 'G9' | 'G10' | 'G11';

export interface FeedOutcome {
  /** Values that were claimed at a slot at which the account was another, at confirmed, finalized or a past slot. */
  falseClaims: number;
  /** Claims below an earlier one of the same account. */
  regressions: number;
  /** Streams that were far behind at the end, though the server had all. */
  stale: number;
  /** Values that were compared. */
  claims: number;
  gaps: number;
  /** Accounts that were read again behind a gap. */
  disarmed: number;
  /** Feeds that were refused, and streams that were dropped since they were found false. */
  refused: number;
  dropped: number;
}

interface LedgerBlock extends BlockLink {
  readonly writes: readonly AccountWrite[];
  /** False for one that the server can't seal: it is never sent, nor replayed. */
  readonly isSealed: boolean;
}

const ADDRESSES = ['wallet-1', 'wallet-2', 'wallet-3', 'token-1', 'token-2', 'token-3'];
const FINALITY_SLOTS = 6;
const STEPS = 120;
const REPLAY_SLOTS = 12;
/** A step is a slot. */
const SLOT_MS = 400;
const AUDIT_EVERY = 5;
/** Room for the accounts of one block or two. */
const FEW_BYTES = 1000;
const MAX_LAG = 25;

/** What goes wrong in one schedule. */
interface Faults {
  readonly mode: FeedMode;
  readonly isRichat: boolean;
  readonly isMerged: boolean;
  readonly rejectsWallets: boolean;
  readonly isForeign: boolean;
  readonly losesLate: boolean;
  readonly forges: boolean;
  readonly isOld: boolean;
  readonly omitRate: number;
  readonly restartRate: number;
  readonly loseReplayRate: number;
  readonly duplicateRate: number;
  readonly filterDelay: number;
  readonly silentFrom: number;
  readonly blockReadFailRate: number;
}

function drawFaults(random: Random): Faults {
  const is = (probability: number): boolean => random() < probability;
  const isOdd = is(0.3); // most schedules are of a feed that may be used
  return {
    mode: is(0.5) ? 'blocks' : 'accounts',
    isRichat: is(0.3),
    isMerged: is(0.3),
    rejectsWallets: isOdd && is(0.3),
    isForeign: isOdd && is(0.3),
    isOld: isOdd && is(0.3),
    losesLate: isOdd && is(0.3),
    forges: isOdd && is(0.3),
    omitRate: is(0.5) ? 0.05 : 0,
    restartRate: is(0.5) ? 0.04 : 0,
    loseReplayRate: is(0.5) ? 0.5 : 0,
    duplicateRate: is(0.3) ? 0.1 : 0,
    filterDelay: is(0.4) ? 3 : 0,
    silentFrom: is(0.15) ? 50 : Number.POSITIVE_INFINITY,
    blockReadFailRate: is(0.3) ? 0.5 : 0,
  };
}

/** Returns the rules without one of them. */
function rulesWithout(off: FeedRule | undefined, isFirstOfConnection: () => boolean): FeedRules {
  const { relationOf } = FEED_RULES;
  switch (off) {
    case 'G0':
      return { ...FEED_RULES, admissionProblem: () => undefined };
    case 'G2':
      return { ...FEED_RULES, relationOf: ({ slot }, applied) => (slot > applied.slot ? 'next' : 'duplicate') };
    case 'G3':
      return { ...FEED_RULES, claimOf: ({ slot }) => slot + 1 };
    case 'G4':
      return { ...FEED_RULES, mayArm: () => true };
    case 'G5':
      return { ...FEED_RULES, supersedes: () => true };
    case 'G6':
      return { ...FEED_RULES, mustRepair: () => false };
    case 'G7':
      return {
        ...FEED_RULES,
        resumeSlotOf: () => undefined,
        relationOf: (block, ...known) =>
          isFirstOfConnection() && block.slot > known[0].slot ? 'next' : relationOf(block, ...known),
      };
    case 'G9':
      return { ...FEED_RULES, finalizedOf: ({ newest }) => newest };
    case 'G10':
      return { ...FEED_RULES, silenceOf: () => undefined };
    case 'G11':
      return { ...FEED_RULES, isRefuted: () => false };
    default:
      return FEED_RULES;
  }
}

/** One schedule: a ledger, a server with faults, a node for reads, and the stream that is under test. */
class Schedule {
  readonly outcome: FeedOutcome = {
    falseClaims: 0,
    regressions: 0,
    stale: 0,
    claims: 0,
    gaps: 0,
    disarmed: 0,
    refused: 0,
    dropped: 0,
  };
  readonly #random: Random;
  readonly #faults: Faults;
  readonly #off: FeedRule | undefined;
  readonly #rules: FeedRules;
  readonly #ring: VersionRing;
  readonly #stream: FeedStream;
  readonly #ledger: LedgerBlock[] = [];
  readonly #claimed = new Map<FeedAccount, Slot>();
  /** What happens in a later step. */
  #later: { readonly at: number; readonly work: () => void }[] = [];
  #step = 0;
  #slot = 100;
  #counter = 0;
  #connection = 0;
  #isConnected = false;
  #isFirstOfConnection = false;
  #filter = { version: 0, addresses: new Set<string>() };
  #sent = 0;
  #firstReplayed = 0;
  #lastBlockStep = 0;
  #isSilent = false;
  #isEnded = false;

  constructor(seed: number, off: FeedRule | undefined) {
    this.#random = createRandom(seed);
    this.#faults = drawFaults(this.#random);
    this.#off = off;
    this.#rules = rulesWithout(off, () => this.#isFirstOfConnection);
    this.#ring = new VersionRing({ bytes: 1 << 20, slots: 20 }, bytesOfAccount);
    this.#stream = new FeedStream({
      mode: this.#faults.mode,
      ring: this.#ring,
      maxBytes: seed % 3 === 0 ? FEW_BYTES : 1 << 20,
      rules: this.#rules,
      accountsPerTurn: seed % 2 === 0 ? 2 : 1000,
      writesPerTurn: seed % 5 < 2 ? 1 : 1000,
      port: {
        connect: (fromSlot, version) => this.#onConnect(fromSlot, version),
        sendFilter: (version) => this.#onFilter(version) === undefined,
        readAccounts: () => this.#after(0, () => this.#readAccounts()),
        readBlock: (slot) => this.#later.push({ at: this.#step, work: () => this.#readBlock(slot) }), // several in a slot
        nextTurn: (work) => this.#later.push({ at: this.#step + (this.#step % 2), work }),
      },
      isOneEpoch: (from, to) => Math.floor(from / 64) === Math.floor(to / 64),
      onApplied: () => {},
      onFinalized: (slot) => this.#ring.advance(this.#stream.slot, slot),
      onVersion: () => {},
      onUnknown: () => this.outcome.disarmed++,
      onEvicted: () => {},
      onFalse: () => {
        this.outcome.dropped++;
        this.#isEnded = true;
      },
    });
  }

  run(): void {
    for (let i = 0; i < 8; i++) this.#produce();
    if (this.#rules.admissionProblem(this.#evidence()) !== undefined) {
      this.outcome.refused++;
      return;
    }
    for (const address of ADDRESSES.slice(0, 3)) this.#stream.add(feedAccount(address));
    this.#stream.start();
    for (this.#step = 0; this.#step < STEPS; this.#step++) {
      if (this.#step === 20) for (const address of ADDRESSES.slice(3)) this.#stream.add(feedAccount(address));
      if (this.#step % 4 === 0) this.#stream.sendFilter();
      this.#produce();
      this.#serve();
      for (let due = this.#dequeueDue(); due.length > 0; due = this.#dequeueDue()) for (const { work } of due) work();
      this.#watch();
      if (this.#step % AUDIT_EVERY === 0) this.#audit();
      // A claim that no rule but the audit can refute is false once an audit of all had its chance.
      if (!this.#isUndetectable) this.#check();
    }
    for (const account of this.#stream.accounts) this.#auditAccount(account);
    this.#check();
    if (!this.#isEnded && this.#slot - this.#stream.slot > MAX_LAG) this.outcome.stale++;
    this.outcome.gaps = this.#stream.gaps;
  }

  get #isUndetectable(): boolean {
    const { losesLate, forges } = this.#faults;
    return losesLate || forges;
  }

  #evidence() {
    const { isOld, isForeign, rejectsWallets, isRichat, mode } = this.#faults;
    const isUnordered = isRichat && mode === 'accounts';
    return {
      versionProblem: isOld || isUnordered ? 'it is known to lose updates, or to send them in no order' : undefined,
      isKnownToNode: !isForeign,
      linkedBlocks: 3,
      hasClock: true,
      written: [{ owner: SYSTEM_PROGRAM, isDelivered: !rejectsWallets }],
    };
  }

  #after(steps: number, work: () => void): void {
    this.#later.push({ at: this.#step + steps + Math.floor(this.#random() * 3), work });
  }

  #dequeueDue() {
    const due = this.#later.filter(({ at }) => at <= this.#step);
    this.#later = this.#later.filter(({ at }) => at > this.#step);
    return due;
  }

  /** Adds a block to the ledger; some slots are skipped. */
  #produce(): void {
    const parent = this.#ledger.at(-1);
    this.#slot += this.#random() < 0.1 ? 2 : 1;
    const writes: AccountWrite[] = [];
    for (const address of ADDRESSES) {
      if (this.#random() > 0.25) continue;
      const times = this.#random() < 0.3 ? 2 : 1;
      for (let i = 0; i < times; i++) {
        this.#counter++;
        writes.push({
          address,
          value: this.#random() < 0.1 ? null : accountOf(this.#counter),
          writeVersion: this.#counter,
        });
      }
    }
    this.#ledger.push({
      slot: this.#slot,
      blockhash: `hash-${this.#slot}`,
      parentSlot: parent?.slot ?? this.#slot - 1,
      parentBlockhash: parent?.blockhash ?? 'genesis',
      writes,
      isSealed: this.#random() >= this.#faults.omitRate,
    });
  }

  #addresses(): Set<string> {
    return new Set([...this.#stream.accounts].map(({ address }) => address));
  }

  #onConnect(fromSlot: Slot | undefined, version: number): void {
    this.#isConnected = false;
    const connection = ++this.#connection;
    const addresses = this.#addresses();
    this.#after(1, () => {
      if (connection !== this.#connection) return;
      const replayed = this.#replayFrom(fromSlot);
      if (replayed === undefined) {
        this.#stream.onEnd(true);
        return;
      }
      this.#isConnected = true;
      this.#lastBlockStep = this.#step;
      this.#isFirstOfConnection = true;
      this.#isSilent = false;
      this.#filter = { version, addresses };
      this.#sent = this.#ledger.length;
      for (const block of replayed) this.#send(block);
    });
  }

  /** Returns the blocks that a server sends again; undefined where it can't. */
  #replayFrom(fromSlot: Slot | undefined): readonly LedgerBlock[] | undefined {
    if (fromSlot === undefined) return [];
    const stored = this.#ledger
      .slice(Math.max(this.#firstReplayed, this.#ledger.length - REPLAY_SLOTS))
      .filter(({ isSealed }) => isSealed);
    const first = stored[0];
    return first === undefined || fromSlot < first.slot ? undefined : stored.filter(({ slot }) => slot >= fromSlot);
  }

  #onFilter(version: number): void {
    const addresses = this.#addresses();
    const connection = this.#connection;
    this.#after(this.#faults.filterDelay, () => {
      if (connection === this.#connection && version > this.#filter.version) this.#filter = { version, addresses };
    });
  }

  /** Sends what is new, or loses the connection. */
  #serve(): void {
    const { restartRate, loseReplayRate, duplicateRate, silentFrom } = this.#faults;
    if (this.#step === silentFrom) this.#isSilent = true;
    if (!this.#isConnected) return;
    if (this.#random() < restartRate && this.#step < STEPS - MAX_LAG) {
      if (this.#random() < loseReplayRate) this.#firstReplayed = this.#ledger.length - 1;
      this.#isConnected = false;
      this.#connection++;
      const connection = this.#connection;
      this.#after(1, () => {
        if (connection === this.#connection) this.#stream.onEnd(false);
      });
      return;
    }
    if (this.#isSilent || this.#random() < 0.2) return; // it comes later, with the next
    const connection = this.#connection;
    for (; this.#sent < this.#ledger.length && connection === this.#connection; this.#sent++) {
      const block = this.#ledger[this.#sent];
      if (block?.isSealed === true) this.#send(block);
      const old = this.#ledger[this.#sent - 3];
      if (old?.isSealed === true && this.#random() < duplicateRate) this.#send(old);
    }
    const final = this.#ledger[this.#ledger.length - 1 - FINALITY_SLOTS];
    if (final !== undefined) this.#update({ kind: 'slot', slot: final.slot, status: 'finalized' });
  }

  /** Sends a block in the order of the server, with what its faults make of it. */
  #send({ writes, ...link }: LedgerBlock): void {
    const { isRichat, isMerged, rejectsWallets, losesLate, forges, isForeign, isOld, mode } = this.#faults;
    const { slot } = link;
    this.#lastBlockStep = this.#step;
    if (isRichat) this.#update({ kind: 'slot', slot, status: 'confirmed' });
    const filters = [`b${this.#filter.version}`];
    const isLost = (address: string): boolean =>
      (rejectsWallets && address.startsWith('wallet')) || ((losesLate || isOld) && slot > 130 && address === 'token-1');
    const sent = writes
      .filter(({ address }) => this.#filter.addresses.has(address) && !isLost(address))
      .map((write) =>
        forges && slot > 130 && write.address === 'wallet-2' ? { ...write, value: accountOf(1) } : write,
      )
      .map((write) => (isForeign ? { ...write, value: accountOf(2) } : write));
    const ordered = isMerged ? sent.toReversed() : sent; // several nodes' updates, in the order of their arrival
    if (mode === 'blocks') this.#update({ kind: 'block', filters, writes: ordered, ...link });
    else {
      if (isRichat) this.#update({ kind: 'block-meta', filters, ...link });
      for (const write of ordered) this.#update({ kind: 'account', filters, slot, write });
      if (!isRichat) this.#update({ kind: 'block-meta', filters, ...link });
    }
    if (!isRichat) this.#update({ kind: 'slot', slot, status: 'confirmed' });
  }

  #update(update: FeedUpdate): void {
    if (this.#off === 'G1' && update.kind === 'slot' && update.status === 'confirmed') {
      const link = this.#ledger.find(({ slot }) => slot === update.slot);
      const kind = this.#faults.mode === 'blocks' ? 'block' : 'block-meta';
      if (link !== undefined)
        this.#stream.onUpdate({ ...link, kind, filters: [`b${this.#filter.version}`], writes: [] });
      if (!this.#isUndetectable) this.#check();
    }
    this.#stream.onUpdate(update);
    if (update.kind === 'block' || update.kind === 'block-meta') this.#isFirstOfConnection = false;
    if (!this.#isUndetectable) this.#check();
  }

  #readAccounts(): void {
    for (const account of this.#stream.dequeueReads(10)) {
      const at = this.#ledger.length - 1 - Math.floor(this.#random() * 6);
      const slot = this.#ledger[Math.max(0, at)]?.slot ?? 0;
      this.#after(1, () => {
        const isTooOld = this.#off !== 'G4' && slot < (this.#stream.sinceOf(account) ?? 0);
        this.#stream.onRead(account, isTooOld ? undefined : { slot, value: this.#truth(account.address, slot) });
        if (!this.#isUndetectable) this.#check();
      });
    }
  }

  #readBlock(slot: Slot): void {
    const block = this.#ledger.find((each) => each.slot === slot);
    const isFailing = this.#random() < this.#faults.blockReadFailRate;
    const missed: MissedBlock | undefined =
      block === undefined || isFailing
        ? undefined
        : { ...block, written: new Set(block.writes.map(({ address }) => address)) };
    this.#stream.onBlockRead(slot, missed);
  }

  /** Closes a stream that is silent for too long (G10). */
  #watch(): void {
    if (!this.#isConnected || this.#isEnded) return;
    const silentMs = (this.#step - this.#lastBlockStep) * SLOT_MS;
    const problem = this.#rules.silenceOf({
      msSinceBlock: silentMs,
      msSinceMessage: this.#isSilent ? silentMs : 0,
      slotTimeMs: SLOT_MS,
      lagSlots: this.#slot - this.#stream.slot,
    });
    if (problem === undefined) return;
    this.#lastBlockStep = this.#step;
    this.#isConnected = false;
    this.#stream.onEnd(false);
  }

  #audit(): void {
    const accounts = [...this.#stream.accounts];
    const account = accounts[Math.floor(this.#random() * accounts.length)];
    if (account !== undefined) this.#auditAccount(account);
  }

  #auditAccount(account: FeedAccount): void {
    const { slot } = this.#stream;
    if (account.history !== undefined) this.#stream.audit(account, { slot, value: this.#truth(account.address, slot) });
  }

  /** Compares all that is claimed with the ledger. */
  #check(): void {
    const { slot, finalizedSlot } = this.#stream;
    for (const account of this.#stream.accounts) {
      const { history } = account;
      if (history === undefined) continue;
      this.#compare(account, slot, history.newest.value);
      if (slot < (this.#claimed.get(account) ?? 0)) this.outcome.regressions++;
      this.#claimed.set(account, slot);
      if (this.#isUndetectable) continue; // an audit refutes what an account is, not what it was
      const finalized = this.#rules.finalizedOf(history, finalizedSlot);
      if (finalized !== undefined) this.#compare(account, finalizedSlot, finalized.value);
      const oldest = this.#ring.get(account.address)?.keptFrom(0) ?? slot; // also of what was known before a gap
      const past = oldest + Math.floor(this.#random() * (slot - oldest + 1));
      this.#compare(account, past, this.#ring.get(account.address)?.at(past)?.value);
    }
  }

  #compare(account: FeedAccount, slot: Slot, value: KeptAccount | undefined): void {
    if (value === undefined || slot > this.#slot) {
      if (value !== undefined) this.outcome.falseClaims++; // a slot that doesn't exist yet
      return;
    }
    this.outcome.claims++;
    if (lamportsOf(value) !== this.#truth(account.address, slot)?.lamports) this.outcome.falseClaims++;
  }

  #truth(address: string, slot: Slot): AccountValue | null {
    for (let i = this.#ledger.length - 1; i >= 0; i--) {
      const block = this.#ledger[i];
      if (block === undefined || block.slot > slot) continue;
      const write = block.writes.findLast((each) => each.address === address);
      if (write !== undefined) return write.value;
    }
    return null;
  }
}

/** All accounts are read alike. */
const feedAccount = (address: string): FeedAccount => ({
  address,
  priority: 0,
  history: undefined,
});

const lamportsOf = (value: KeptAccount): bigint | undefined =>
  value !== null && typeof value === 'object' && 'lamports' in value ? value.lamports : undefined;

const accountOf = (counter: number): AccountValue => ({
  lamports: BigInt(counter),
  owner: 'System',
  executable: false,
  rentEpoch: 0n,
  data: new Uint8Array(0),
});

/** What the absence of each rule must show. */
export const FEED_CONTROLS: readonly { readonly rule: FeedRule; readonly shows: 'falseClaims' | 'stale' }[] = [
  ...(['G0', 'G1', 'G2', 'G3', 'G4', 'G5', 'G6', 'G7', 'G9', 'G11'] as const).map((rule) => ({
    rule,
    shows: 'falseClaims' as const,
  })),
  { rule: 'G10', shows: 'stale' },
];

/** Runs the schedules of these seeds, with all rules or without one; returns what they add up to. */
export function runFeedSchedules(firstSeed: number, count: number, off?: FeedRule): FeedOutcome {
  const sum: FeedOutcome = {
    falseClaims: 0,
    regressions: 0,
    stale: 0,
    claims: 0,
    gaps: 0,
    disarmed: 0,
    refused: 0,
    dropped: 0,
  };
  for (let seed = firstSeed; seed < firstSeed + count; seed++) {
    const schedule = new Schedule(seed, off);
    schedule.run();
    for (const name of Object.keys(sum) as (keyof FeedOutcome)[]) sum[name] += schedule.outcome[name];
  }
  return sum;
}
