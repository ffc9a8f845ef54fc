import { GatewayError } from '../domain/gateway-error.ts';
import type { ApiKeyRegistry } from './api-keys/api-key-registry.ts';
import { addressKeyOf, type RateLimitKey } from './limits/rate-limit-key.ts';
import type { Quota, RateLimiter } from './limits/rate-limiter.ts';
import type { Principal, Tier, Tiers } from './limits/tiers.ts';
import type { StakeBalances } from './stake/stake-balances.ts';
import type { StakeProof, StakeProofVerifier } from './stake/stake-proof.ts';

/** The headers of a request; `''` for one that it has not. */
export interface RequestHeaders {
  getHeader(name: string): string;
}

/** What it takes to know wallets. */
export interface StakeDeps {
  readonly proofs: StakeProofVerifier;
  readonly balances: Pick<StakeBalances, 'balanceOf'>;
  /** In base units. */
  readonly step: bigint;
}

export interface AuthenticatorOptions {
  readonly tiers: Tiers;
  readonly keys: Pick<ApiKeyRegistry, 'find' | 'isActive'>;
  readonly rateLimiter: RateLimiter;
  /** Absent: nobody is asked for a wallet, and what is said of one is not heard. */
  readonly stake: StakeDeps | undefined;
}

/** Whom a request was counted for, and what is left to it. */
export interface AuthenticatedQuota {
  readonly principal: Principal | undefined;
  readonly quota: Quota;
  /** Why what it shows is not valid. Who has nothing left hears of that first. */
  readonly credentialsError: GatewayError | undefined;
}

/** Tells who asks, and of which tier it is. */
export class Authenticator {
  readonly #options: AuthenticatorOptions;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  /** Counts a request for whoever sent it: for its address where it shows nothing, or nothing valid. */
  consume(headers: RequestHeaders, address: ArrayBuffer, weight: number): AuthenticatedQuota {
    const authenticated = this.authenticate(headers, address);
    const [principal, credentialsError] =
      authenticated instanceof GatewayError ? [undefined, authenticated] : [authenticated, undefined];
    return { principal, credentialsError, quota: { ...this.#options.rateLimiter.consume(address, weight, principal) } };
  }

  /**
   * The account that a request names; undefined for one that counts for its address, such as a wallet that holds less
   * than a step. What is shown and isn't valid is `invalid_api_key` or `invalid_stake_proof`.
   */
  authenticate(headers: RequestHeaders, address: ArrayBuffer): Principal | GatewayError | undefined {
    const { keys, stake } = this.#options;
    const key = headers.getHeader('x-api-key');
    const wallet = stake === undefined ? '' : headers.getHeader('x-stake-wallet');
    if (key === '' && wallet === '') return undefined;
    const keyPrincipal = key === '' ? undefined : keys.find(key);
    if (key !== '' && keyPrincipal === undefined)
      return new GatewayError('invalid_api_key', 'the API key is unknown, revoked or expired');
    if (stake === undefined || wallet === '') return keyPrincipal;
    const [issued, signature] = [headers.getHeader('x-stake-issued'), headers.getHeader('x-stake-signature')];
    const tier = this.#stakedTier(stake, { wallet, issued, signature }, address);
    if (tier === undefined || tier instanceof GatewayError) return tier ?? keyPrincipal;
    if (keyPrincipal === undefined) return { id: `wallet ${wallet}`, tier, key: undefined, perIpLimit: undefined };
    return requestsPerSecond(tier) > requestsPerSecond(keyPrincipal.tier) ? { ...keyPrincipal, tier } : keyPrincipal;
  }

  /** False for an account whose key was revoked, or has expired, since it was shown. */
  isStillValid({ key }: Principal): boolean {
    return key === undefined || this.#options.keys.isActive(key);
  }

  /** The tier that a caller is of. */
  tierOf(principal: Principal | undefined): Tier {
    return principal === undefined ? this.#options.tiers.free : principal.tier;
  }

  /** Undefined for a wallet that holds too little. */
  #stakedTier({ proofs, balances, step }: StakeDeps, proof: StakeProof, address: ArrayBuffer) {
    // To verify takes long, so who has spent what its address has must come with a proof that is known.
    if (!proofs.isVerified(proof) && this.#options.rateLimiter.peek(address).remaining === 0) return undefined;
    const fault = proofs.findFault(proof);
    if (fault !== undefined) return new GatewayError('invalid_stake_proof', `the stake proof is not valid: ${fault}`);
    const steps = balances.balanceOf(proof.wallet) / step;
    return steps > 0n ? this.#options.tiers.staked(steps) : undefined;
  }
}

/** Whom a request counts for. */
export const rateLimitKeyOf = (address: ArrayBuffer, principal: Principal | undefined): RateLimitKey =>
  principal === undefined ? addressKeyOf(address) : principal.id;

const requestsPerSecond = ({ requests, windowSeconds }: Tier): number => requests / windowSeconds;
