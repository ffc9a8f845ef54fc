import type { Config } from '../../config/config-schema.ts';
import type { LimitsSettings, StakeSettings } from '../../config/limits-schema.ts';
import type { Clock } from '../../shared/domain/clock.ts';
import { StartError } from '../../shared/domain/start-error.ts';
import type { DurableWrites } from '../../shared/runtime/durable-writes.ts';
import { EventLoopLag } from '../../shared/runtime/event-loop-lag.ts';
import { ApiKeyRegistry } from './api-keys/api-key-registry.ts';
import { apiKeysPath, prepareFleetKeys } from './api-keys/api-key-store.ts';
import { Authenticator } from './authenticator.ts';
import { Admission } from './limits/admission.ts';
import { createClientIpResolver } from './limits/client-ip.ts';
import { ConnectionLimiter } from './limits/connection-limiter.ts';
import { RateLimiter } from './limits/rate-limiter.ts';
import { StreamQuota } from './limits/stream-quota.ts';
import { tiersOf } from './limits/tiers.ts';
import type { CounterMember } from './quota/counter-member.ts';
import { StakeBalances } from './stake/stake-balances.ts';
import { StakeProofVerifier, type VerifySignature } from './stake/stake-proof.ts';
import { UsageCounter } from './usage/usage-counter.ts';
import { usagePath } from './usage/usage-file.ts';

export type Access = ReturnType<typeof openAccess>;

type ReadMintBalance = (wallet: string, mint: string) => Promise<bigint>;

export interface AccessOptions {
  readonly limits: LimitsSettings;
  /** The longest time that a request may queue for the upstream, in milliseconds. */
  readonly waitMs: number;
  readonly stake: StakeSettings;
  readonly trustedProxies: readonly string[];
  /** The time after which the engine has closed a connection without a request, in seconds. */
  readonly idleSeconds: number;
  readonly workers: Pick<Config['workers'], 'count'>;
  readonly dataDir: string;
  /** The store of a fleet, whose keys are valid then. */
  readonly redis: Pick<Config['redis'], 'url'>;
  readonly clock: Clock;
  readonly writes: Pick<DurableWrites, 'attempt'>;
  /** The counters that this process shares with others; without, it has all of each limit. */
  readonly counters?: CounterMember | undefined;
  readonly random: () => number;
  readonly verifySignature: VerifySignature;
  readonly onProblem: (problem: string, cause?: unknown) => void;
  readonly onRecovery: (message: string) => void;
}

/** Creates the parts and connects them. Throws a StartError for settings or a key file that can't be used. */
export function openAccess(options: AccessOptions) {
  const { limits, waitMs: maxWaitMs, trustedProxies, dataDir, redis, clock, onProblem, onRecovery } = options;
  const tiers = tiersOf(limits);
  const rateLimiter = new RateLimiter(limits, clock, options.counters?.createBook);
  const clientIp = createClientIpResolver(trustedProxies);
  const stake = stakeDepsFrom(options);
  const keysPath = redis.url === null ? apiKeysPath(dataDir) : prepareFleetKeys(dataDir);
  const keys = new ApiKeyRegistry({
    path: keysPath,
    tiers,
    clock,
    onProblem: ({ message }) => onProblem(`the API keys can't be read; those loaded before stay valid: ${message}`),
    onRecovery: () => onRecovery('the API keys can be read again'),
  });
  const usage = new UsageCounter({ path: usagePath(dataDir), clock, writes: options.writes });
  const lag = new EventLoopLag(clock);
  const isOverloaded = (): boolean => lag.medianMs > limits.loopDelayMs;
  return {
    clientIp,
    authenticator: new Authenticator({ tiers, keys, rateLimiter, stake }),
    rateLimiter,
    keysPath,
    connectionLimiter: new ConnectionLimiter({
      ...limits,
      idleSeconds: options.idleSeconds,
      processes: Number(options.workers.count) || 1, // `auto` is a number by now where a worker serves
      clientIp,
      clock,
    }),
    admission: new Admission({ maxInFlight: limits.inFlight, maxQueued: limits.queue, maxWaitMs, clock, isOverloaded }),
    streamQuota: new StreamQuota(clock, options.counters?.streams),
    usage,
    lag,
    problems: (): readonly string[] =>
      [
        keys.problem && "the API keys can't be read: those revoked since may still be valid",
        options.counters?.problem && `the counts of other processes are not believed: ${options.counters.problem}`,
      ].filter((each) => each !== undefined),
    /** Sets how balances of staked wallets are read. Must be called before the first request. */
    readBalancesWith: (read: ReadMintBalance): void => stake?.readBalancesWith(read),
    stakeBalances: stake?.balances,
    close() {
      lag.close();
      keys.close();
      stake?.balances.close();
      usage.close();
    },
  };
}

function stakeDepsFrom({ stake, clock, random, verifySignature, onProblem }: AccessOptions) {
  const { mint, host, holdSeconds, wallets: maxWallets } = stake;
  if (mint === null) return undefined;
  if (host === null)
    throw new StartError(78, 'stake.host: expected the name that wallets sign for, as stake.mint is set');
  const step = BigInt(stake.unitBalance);
  let readMintBalance: ReadMintBalance = () => Promise.reject(new Error('the gateway is still starting'));
  const balances = new StakeBalances({
    readBalance: (wallet) => readMintBalance(wallet, mint),
    holdSeconds,
    step,
    maxWallets,
    clock,
    random,
    onProblem: (cause) => onProblem('the balance of a staked wallet could not be read', cause),
  });
  const readBalancesWith = (read: ReadMintBalance): void => {
    readMintBalance = read;
  };
  return { proofs: new StakeProofVerifier(host, verifySignature, clock), balances, step, readBalancesWith };
}
