import type { Clock } from '../../domain/clock.ts';

export interface StakeBalancesOptions {
  /** What a wallet holds now, in base units. */
  readonly readBalance: (wallet: string) => Promise<bigint>;
  readonly holdSeconds: number;
  /** Who holds less than this is the first to be forgotten. */
  readonly step: bigint;
  /** How many wallets are looked at. */
  readonly maxWallets: number;
  readonly clock: Clock;
  readonly random: () => number;
  /** Told when a wallet can't be read, and again only when one could be meanwhile. */
  readonly onProblem: (problem: unknown) => void;
}

interface Sample {
  readonly atMs: number;
  readonly amount: bigint;
}

interface WalletSamples {
  /** Oldest first; the first may be from before the time that counts, in which it held still. */
  samples: readonly Sample[];
  /** Since when it has been looked at without a gap. */
  sampledSinceMs: number;
  nextSampleMs: number;
  /** When somebody last asked for it. */
  lastUsedMs: number;
}

const TICK_MS = 1000;

/** So many wallets are read in a tick, whoever asks: what callers invent costs the upstream no more. */
const READS_PER_TICK = 40;

/** Times that a wallet is looked at while it must hold. */
const SAMPLES_PER_HOLD = 20;

/**
 * What wallets have held for `holdSeconds` on end: the least of what was seen of them. One is looked at as long as
 * somebody asks for it, at times that nobody can foresee, so that one bag can't count for two wallets.
 */
export class StakeBalances {
  readonly #options: StakeBalancesOptions;
  readonly #holdMs: number;
  readonly #wallets = new Map<string, WalletSamples>();
  #cancelTick = (): void => {};
  #isTicking = false;
  #isFailing = false;
  #isClosed = false;

  constructor(options: StakeBalancesOptions) {
    this.#options = options;
    this.#holdMs = options.holdSeconds * 1000;
  }

  /** How many wallets are looked at. */
  get size(): number {
    return this.#wallets.size;
  }

  /** In base units; 0 for a wallet that has not been looked at for so long. It is from now on, if there is room. */
  balanceOf(wallet: string): bigint {
    const nowMs = this.#options.clock.monotonic();
    const known = this.#wallets.get(wallet);
    if (known === undefined) {
      this.#startSampling(wallet, nowMs);
      return 0n;
    }
    known.lastUsedMs = nowMs;
    const newest = known.samples.at(-1);
    if (newest === undefined || nowMs - known.sampledSinceMs < this.#holdMs || nowMs - newest.atMs > this.#holdMs)
      return 0n;
    return known.samples.map(({ amount }) => amount).reduce(smaller);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelTick();
  }

  #startSampling(wallet: string, nowMs: number): void {
    if (this.#isClosed || (this.#wallets.size >= this.#options.maxWallets && !this.#evictBelowStep())) return;
    if (!this.#isTicking) this.#cancelTick = this.#options.clock.after(0, () => this.#tick());
    this.#isTicking = true;
    this.#wallets.set(wallet, { samples: [], sampledSinceMs: nowMs, nextSampleMs: nowMs, lastUsedMs: nowMs });
  }

  /** Forgets the first wallet that is known to hold too little. */
  #evictBelowStep(): boolean {
    for (const [wallet, { samples }] of this.#wallets) {
      const newest = samples.at(-1);
      if (newest !== undefined && newest.amount < this.#options.step) return this.#wallets.delete(wallet);
    }
    return false;
  }

  #tick(): void {
    const nowMs = this.#options.clock.monotonic();
    let readsLeft = READS_PER_TICK;
    for (const [name, wallet] of this.#wallets) {
      if (nowMs - wallet.lastUsedMs > this.#holdMs) this.#wallets.delete(name);
      else if (wallet.nextSampleMs <= nowMs && readsLeft-- > 0) void this.#sample(name, wallet);
    }
    this.#isTicking = this.#wallets.size > 0 && !this.#isClosed;
    if (this.#isTicking) this.#cancelTick = this.#options.clock.after(TICK_MS, () => this.#tick());
  }

  /** A read that fails says nothing: the next one may come in time. */
  async #sample(name: string, wallet: WalletSamples): Promise<void> {
    const { clock, random, readBalance, onProblem } = this.#options;
    wallet.nextSampleMs = clock.monotonic() + (this.#holdMs / SAMPLES_PER_HOLD) * (0.5 + random());
    try {
      const amount = await readBalance(name);
      this.#isFailing = false;
      const atMs = clock.monotonic();
      const gapMs = atMs - (wallet.samples.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY);
      if (gapMs > this.#holdMs) wallet.sampledSinceMs = atMs;
      const firstInHold = wallet.samples.findIndex(({ atMs: then }) => atMs - then < this.#holdMs);
      const recent = gapMs > this.#holdMs ? [] : wallet.samples.slice(Math.max(0, firstInHold - 1));
      wallet.samples = [...recent, { atMs, amount }];
    } catch (thrown) {
      if (!this.#isFailing) onProblem(thrown);
      this.#isFailing = true;
    }
  }
}

/** Math.min takes no bigint. */
const smaller = (a: bigint, b: bigint): bigint => {
  if (a < b) return a;
  return b;
};
