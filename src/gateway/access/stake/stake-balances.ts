import type { Clock } from '../../../shared/domain/clock.ts';
import { repeat } from '../../../shared/runtime/repeat.ts';

export interface StakeBalancesOptions {
  readonly readBalance: (wallet: string) => Promise<bigint>;
  readonly holdSeconds: number;
  /** Smallest balance that counts, in base units; wallets below it are evicted first. */
  readonly step: bigint;
  readonly maxWallets: number;
  readonly clock: Clock;
  readonly random: () => number;
  /** Receives the first error of a series of failed reads. */
  readonly onProblem: (problem: unknown) => void;
}

interface Sample {
  readonly atMs: number;
  readonly amount: bigint;
}

interface WalletSamples {
  /** Samples, oldest first; the first may be older than `holdSeconds`, as the balance at the start of that time. */
  samples: readonly Sample[];
  sampledSinceMs: number;
  /** Whether the samples are dropped with the next one. */
  isDoubted: boolean;
  nextSampleMs: number;
  lastUsedMs: number;
}

const TICK_MS = 1000;

/** The most wallets read per tick, whatever callers claim: invented wallets cost the upstream no more. */
const READS_PER_TICK = 40;

/** The shortest time for which a wallet is sampled after it was used: open streams use it once a minute. */
const MIN_SAMPLED_MS = 120_000;
const SAMPLES_PER_HOLD = 20;

/** The lowest balance per wallet over `holdSeconds`, at random times, so that tokens can't count for two wallets. */
export class StakeBalances {
  readonly #options: StakeBalancesOptions;
  readonly #holdMs: number;
  readonly #maxWallets: number;
  readonly #wallets = new Map<string, WalletSamples>();
  /** How often all samples were dropped. */
  #clears = 0;
  #stopTicking: (() => void) | undefined;
  #isFailing = false;
  #isClosed = false;

  constructor(options: StakeBalancesOptions) {
    this.#options = options;
    this.#holdMs = options.holdSeconds * 1000;
    this.#maxWallets = Math.min(options.maxWallets, (READS_PER_TICK / SAMPLES_PER_HOLD) * options.holdSeconds);
  }

  get size(): number {
    return this.#wallets.size;
  }

  /** 0 for a wallet that has not been sampled for `holdSeconds`. An unknown one is sampled from now on, if it fits. */
  balanceOf(wallet: string): bigint {
    const nowMs = this.#options.clock.monotonic();
    const known = this.#wallets.get(wallet);
    if (known === undefined) this.#startSampling(wallet, nowMs);
    else known.lastUsedMs = nowMs;
    if (known === undefined || nowMs - known.sampledSinceMs < this.#holdMs) return 0n;
    return this.balanceInUse(wallet) ?? 0n;
  }

  /** 0 for a wallet that isn't sampled. Undefined while it can't be read: no tier is lost because a node is silent. */
  balanceInUse(wallet: string): bigint | undefined {
    const known = this.#wallets.get(wallet);
    if (known === undefined) {
      this.balanceOf(wallet); // starts to sample it
      return this.#wallets.has(wallet) ? undefined : 0n;
    }
    known.lastUsedMs = this.#options.clock.monotonic();
    const newest = known.samples.at(-1);
    return newest === undefined || known.lastUsedMs - newest.atMs > this.#holdMs ? undefined : lowestOf(known.samples);
  }

  /** Replaces all samples by new ones soon, since a node that gave some of them has lied. No wallet waits again. */
  clear(): void {
    this.#clears++;
    for (const wallet of this.#wallets.values()) {
      wallet.isDoubted = true;
      wallet.nextSampleMs = this.#options.clock.monotonic();
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#stopTicking?.();
  }

  #startSampling(wallet: string, nowMs: number): void {
    if (this.#isClosed || (this.#wallets.size >= this.#maxWallets && !this.#evictBelowStep())) return;
    this.#stopTicking ??= repeat(this.#options.clock, TICK_MS, () => this.#tick(), 0);
    const times = { sampledSinceMs: nowMs, nextSampleMs: nowMs, lastUsedMs: nowMs };
    this.#wallets.set(wallet, { samples: [], isDoubted: false, ...times });
  }

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
      if (nowMs - wallet.lastUsedMs > Math.max(this.#holdMs, MIN_SAMPLED_MS)) this.#wallets.delete(name);
      else if (wallet.nextSampleMs <= nowMs && readsLeft-- > 0) {
        this.#wallets.delete(name); // to the end: where all can't be read, none waits forever
        this.#wallets.set(name, wallet);
        void this.#sample(name, wallet);
      }
    }
    if (this.#wallets.size > 0) return;
    this.#stopTicking?.();
    this.#stopTicking = undefined;
  }

  async #sample(name: string, wallet: WalletSamples): Promise<void> {
    const { clock, random, readBalance, onProblem } = this.#options;
    wallet.nextSampleMs = clock.monotonic() + (this.#holdMs / SAMPLES_PER_HOLD) * (0.5 + random());
    const clears = this.#clears;
    try {
      const amount = await readBalance(name);
      this.#isFailing = false;
      if (clears !== this.#clears) return; // the node that has lied may have given it
      const atMs = clock.monotonic();
      const gapMs = atMs - (wallet.samples.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY);
      if (gapMs > this.#holdMs) wallet.sampledSinceMs = atMs;
      const firstInHold = wallet.samples.findIndex(({ atMs: then }) => atMs - then < this.#holdMs);
      const recent = gapMs > this.#holdMs || wallet.isDoubted ? [] : wallet.samples.slice(Math.max(0, firstInHold - 1));
      wallet.samples = [...recent, { atMs, amount }];
      wallet.isDoubted = false;
    } catch (thrown) {
      if (!this.#isFailing) onProblem(thrown);
      this.#isFailing = true;
    }
  }
}

/** Returns the lowest balance of at least one sample: Math.min accepts no bigint. */
const lowestOf = (samples: readonly Sample[]): bigint =>
  samples.reduce((lowest, sample) => (sample.amount < lowest.amount ? sample : lowest)).amount;
