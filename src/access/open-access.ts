import type { Clock } from '../domain/clock.ts';
import { StartError } from '../domain/start-error.ts';
import { ApiKeyRegistry } from './api-keys/api-key-registry.ts';
import { apiKeysPath } from './api-keys/api-key-store.ts';
import { Authenticator } from './authenticator.ts';
import { Admission } from './limits/admission.ts';
import { type ClientIpResolver, createClientIpResolver } from './limits/client-ip.ts';
import { ConnectionLimiter } from './limits/connection-limiter.ts';
import { EventLoopLag } from './limits/event-loop-lag.ts';
import { RateLimiter } from './limits/rate-limiter.ts';
import { StreamQuota } from './limits/stream-quota.ts';
import { type TierSettings, tiersOf } from './limits/tiers.ts';
import { StakeBalances } from './stake/stake-balances.ts';
import { StakeProofVerifier, type VerifySignature } from './stake/stake-proof.ts';
import { UsageCounter } from './usage/usage-counter.ts';
import { usagePath } from './usage/usage-file.ts';

/** All that decides who may ask how much. */
export interface Access {
  readonly clientIp: ClientIpResolver;
  readonly authenticator: Authenticator;
  readonly rateLimiter: RateLimiter;
  readonly connectionLimiter: ConnectionLimiter;
  readonly admission: Admission;
  readonly streamQuota: StreamQuota;
  readonly usage: UsageCounter;
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
  readonly verifySignature: VerifySignature;
  /** What a wallet holds of the mint now, in base units. */
  readonly readMintBalance: (wallet: string, mint: string) => Promise<bigint>;
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
  const { limits, waitMs: maxWaitMs, trustedProxies, state, clock, onProblem } = options;
  const tiers = tiersOf(limits);
  const rateLimiter = new RateLimiter(limits, clock);
  const resolveClientIp = createClientIpResolver(trustedProxies);
  const stake = stakeDepsFrom(options);
  const keys = new ApiKeyRegistry({
    path: apiKeysPath(state),
    tiers,
    clock,
    onProblem: (cause) => onProblem('the API keys can not be read; those that were known go on', cause),
  });
  const usage = new UsageCounter({
    path: usagePath(state),
    clock,
    onProblem: (cause) => onProblem('usage can not be written; it is kept until it can', cause),
  });
  const lag = new EventLoopLag(clock);
  const isOverloaded = (): boolean => lag.medianMs > limits.loopDelayMs;
  return {
    clientIp: resolveClientIp,
    authenticator: new Authenticator({ tiers, keys, rateLimiter, stake }),
    rateLimiter,
    connectionLimiter: new ConnectionLimiter({ ...limits, clientIp: resolveClientIp, clock }),
    admission: new Admission({ maxInFlight: limits.inFlight, maxQueued: limits.queue, maxWaitMs, clock, isOverloaded }),
    streamQuota: new StreamQuota(clock),
    usage,
    close() {
      lag.close();
      keys.close();
      stake?.balances.close();
      usage.close();
    },
  };
}

function stakeDepsFrom({ stake, clock, random, verifySignature, readMintBalance, onProblem }: AccessOptions) {
  const { mint, host, holdSeconds, wallets: maxWallets } = stake;
  if (mint === null) return undefined;
  if (host === null)
    throw new StartError(78, 'stake.host: expected the name that wallets sign for, as stake.mint is set');
  const step = BigInt(stake.step);
  const balances = new StakeBalances({
    readBalance: (wallet) => readMintBalance(wallet, mint),
    holdSeconds,
    step,
    maxWallets,
    clock,
    random,
    onProblem: (cause) => onProblem('the holding of a wallet could not be read', cause),
  });
  return { proofs: new StakeProofVerifier(host, verifySignature, clock), balances, step };
}
