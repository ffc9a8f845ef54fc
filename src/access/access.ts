import type { Clock } from '../domain/clock.ts';
import { StartError } from '../domain/start-error.ts';
import { ApiKeys } from './api-keys/api-keys.ts';
import { keysPath } from './api-keys/key-store.ts';
import { Callers } from './callers.ts';
import { Admission } from './limits/admission.ts';
import { type ClientIp, clientIp } from './limits/client-ip.ts';
import { Door } from './limits/door.ts';
import { Limiter } from './limits/limiter.ts';
import { LoopDelay } from './limits/loop-delay.ts';
import { Seats } from './limits/seats.ts';
import { type TierSettings, tiersOf } from './limits/tier.ts';
import { Holdings } from './stake/holdings.ts';
import { StakeProofs, type VerifySignature } from './stake/stake-proof.ts';
import { Usage } from './usage/usage.ts';
import { usagePath } from './usage/usage-file.ts';

/** All that decides who may ask how much. */
export interface Access {
  readonly clientIp: ClientIp;
  readonly callers: Callers;
  readonly limiter: Limiter;
  readonly door: Door;
  readonly admission: Admission;
  readonly seats: Seats;
  readonly usage: Usage;
  /** Writes what was counted, and lets go of the files. */
  close(): void;
}

export interface AccessOptions {
  readonly limits: TierSettings & {
    readonly identities: number;
    readonly connections: number;
    readonly inFlight: number;
    readonly queue: number;
    readonly loopDelayMs: number;
  };
  /** How long a request may wait for its turn with the upstream. */
  readonly waitMs: number;
  readonly stake: StakeSettings;
  readonly trustedProxies: readonly string[];
  /** The folder of what outlives the process. */
  readonly state: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly verify: VerifySignature;
  /** What a wallet holds of the mint now, in base units. */
  readonly readHolding: (wallet: string, mint: string) => Promise<bigint>;
  readonly onProblem: (problem: string, cause: unknown) => void;
}

export interface StakeSettings {
  /** Null: there is no staked tier. */
  readonly mint: string | null;
  /** In base units. */
  readonly step: string;
  readonly holdSeconds: number;
  readonly host: string | null;
  readonly wallets: number;
}

/** Wires the parts. Throws a StartError for settings or a key file that can't be used. */
export function openAccess(options: AccessOptions): Access {
  const { limits, waitMs, trustedProxies, state, clock, onProblem } = options;
  const tiers = tiersOf(limits);
  const limiter = new Limiter(limits, clock);
  const addressOf = clientIp(trustedProxies);
  const stake = stakeFrom(options);
  const keys = new ApiKeys({
    path: keysPath(state),
    tiers,
    clock,
    onProblem: (cause) => onProblem('the API keys can not be read; those that were known go on', cause),
  });
  const usage = new Usage({
    path: usagePath(state),
    clock,
    onProblem: (cause) => onProblem('usage can not be written; it is kept until it can', cause),
  });
  const delay = new LoopDelay(clock);
  const isLate = (): boolean => delay.medianMs > limits.loopDelayMs;
  return {
    clientIp: addressOf,
    callers: new Callers({ tiers, keys, limiter, stake }),
    limiter,
    door: new Door({ ...limits, clientIp: addressOf, clock }),
    admission: new Admission({ inFlight: limits.inFlight, queue: limits.queue, waitMs, clock, isLate }),
    seats: new Seats(clock),
    usage,
    close() {
      delay.close();
      keys.close();
      stake?.holdings.close();
      usage.close();
    },
  };
}

function stakeFrom({ stake, clock, random, verify, readHolding, onProblem }: AccessOptions) {
  const { mint, host, holdSeconds, wallets } = stake;
  if (mint === null) return undefined;
  if (host === null)
    throw new StartError(78, 'stake.host: expected the name that wallets sign for, as stake.mint is set');
  const step = BigInt(stake.step);
  const holdings = new Holdings({
    read: (wallet) => readHolding(wallet, mint),
    holdSeconds,
    step,
    wallets,
    clock,
    random,
    onProblem: (cause) => onProblem('the holding of a wallet could not be read', cause),
  });
  return { proofs: new StakeProofs(host, verify, clock), holdings, step };
}
