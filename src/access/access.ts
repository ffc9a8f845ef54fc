import type { Config } from '../config/config-schema.ts';
import type { LimitsSettings, StakeSettings } from '../config/limits-schema.ts';
import type { Clock } from '../domain/clock.ts';
import { StartError } from '../domain/start-error.ts';
import { ApiKeyRegistry } from './api-keys/api-key-registry.ts';
import { apiKeysPath, prepareFleetKeys } from './api-keys/api-key-store.ts';
import { Authenticator } from './authenticator.ts';
import { Admission } from './limits/admission.ts';
import { type ClientIpResolver, createClientIpResolver } from './limits/client-ip.ts';
import { ConnectionLimiter } from './limits/connection-limiter.ts';
import { EventLoopLag } from './limits/event-loop-lag.ts';
import { RateLimiter } from './limits/rate-limiter.ts';
import { StreamQuota } from './limits/stream-quota.ts';
import { tiersOf } from './limits/tiers.ts';
import type { SharedQuota } from './quota/shared-quota.ts';
import type { SharedSeats } from './quota/shared-seats.ts';
import { StakeBalances } from './stake/stake-balances.ts';
import { StakeProofVerifier, type VerifySignature } from './stake/stake-proof.ts';
import { UsageCounter } from './usage/usage-counter.ts';
import { usagePath } from './usage/usage-file.ts';

/** Everything that decides how much each caller may use. */
export interface Access {
  readonly clientIp: ClientIpResolver;
  readonly authenticator: Authenticator;
  readonly rateLimiter: RateLimiter;
  readonly connectionLimiter: ConnectionLimiter;
  readonly admission: Admission;
  readonly streamQuota: StreamQuota;
  readonly usage: UsageCounter;
  /** The median lateness of the event loop, in milliseconds. */
  readonly loopDelayMs: number;
  /** The file that API keys are read from. */
  readonly keysPath: string;
  /** Sets how balances of staked wallets are read. Must be called before the first request. */
  readBalancesWith(read: ReadMintBalance): void;
  /** What is wrong, for `/health`. */
  problems(): readonly string[];
  /** Writes the usage counted so far and releases files and timers. */
  close(): void;
}

/** Reads a wallet's current balance of a mint, in base units. */
type ReadMintBalance = (wallet: string, mint: string) => Promise<bigint>;

export interface AccessOptions {
  readonly limits: LimitsSettings;
  /** The longest time that a request may queue for the upstream, in milliseconds. */
  readonly waitMs: number;
  readonly stake: StakeSettings;
  readonly trustedProxies: readonly string[];
  /** The state folder, which outlives the process. */
  readonly state: string;
  /** The store of a fleet, whose keys are valid then. */
  readonly redis: Pick<Config['redis'], 'url'>;
  readonly clock: Clock;
  /** The limits that this process shares with others; without, it has them all. */
  readonly shared?: { readonly quota: SharedQuota; readonly seats?: SharedSeats } | undefined;
  readonly random: () => number;
  readonly verifySignature: VerifySignature;
  readonly onProblem: (problem: string, cause?: unknown) => void;
  readonly onRecovery: (message: string) => void;
}

/** Creates the parts and connects them. Throws a StartError for settings or a key file that can't be used. */
export function openAccess(options: AccessOptions): Access {
  const { limits, waitMs: maxWaitMs, trustedProxies, state, redis, clock, onProblem, onRecovery } = options;
  const tiers = tiersOf(limits);
  const { shared } = options;
  const createBook = shared && ((name: string, capacity: number) => shared.quota.createBook(name, capacity));
  const rateLimiter = new RateLimiter(limits, clock, createBook);
  const resolveClientIp = createClientIpResolver(trustedProxies);
  const stake = stakeDepsFrom(options);
  const keysPath = redis.url === null ? apiKeysPath(state) : prepareFleetKeys(state);
  const keys = new ApiKeyRegistry({
    path: keysPath,
    tiers,
    clock,
    onProblem: ({ message }) => onProblem(`the API keys can't be read; those loaded before stay valid: ${message}`),
    onRecovery: () => onRecovery('the API keys can be read again'),
  });
  const usage = new UsageCounter({
    path: usagePath(state),
    clock,
    onProblem: (cause) => onProblem(`usage can't be written; it is kept in memory until it can: ${reasonOf(cause)}`),
    onRecovery: () => onRecovery('usage can be written again, and nothing of it is lost'),
  });
  const lag = new EventLoopLag(clock);
  const isOverloaded = (): boolean => lag.medianMs > limits.loopDelayMs;
  return {
    clientIp: resolveClientIp,
    authenticator: new Authenticator({ tiers, keys, rateLimiter, stake }),
    rateLimiter,
    keysPath,
    connectionLimiter: new ConnectionLimiter({ ...limits, clientIp: resolveClientIp, clock }),
    admission: new Admission({ maxInFlight: limits.inFlight, maxQueued: limits.queue, maxWaitMs, clock, isOverloaded }),
    streamQuota: new StreamQuota(clock, shared?.seats),
    usage,
    get loopDelayMs() {
      return lag.medianMs;
    },
    problems: () =>
      keys.problem === undefined ? [] : ["the API keys can't be read: those revoked since may still be valid"],
    readBalancesWith: (read) => stake?.readBalancesWith(read),
    close() {
      lag.close();
      keys.close();
      stake?.balances.close();
      usage.close();
    },
  };
}

/** Returns an error's message alone: the stack of a full or read-only disk tells an operator nothing. */
const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

function stakeDepsFrom({ stake, clock, random, verifySignature, onProblem }: AccessOptions) {
  const { mint, host, holdSeconds, wallets: maxWallets } = stake;
  if (mint === null) return undefined;
  if (host === null)
    throw new StartError(78, 'stake.host: expected the name that wallets sign for, as stake.mint is set');
  const step = BigInt(stake.step);
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
