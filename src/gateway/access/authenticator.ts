import { GatewayError } from '../../shared/domain/gateway-error.ts';
import type { ApiKeyRegistry } from './api-keys/api-key-registry.ts';
import type { RateLimiter } from './limits/rate-limiter.ts';
import type { Principal, Tier, Tiers } from './limits/tiers.ts';
import { addressKeyOf, type RateLimitKey } from './quota/rate-limit-key.ts';
import type { StakeBalances } from './stake/stake-balances.ts';
import type { StakeProof, StakeProofVerifier } from './stake/stake-proof.ts';

export interface RequestHeaders {
  /** Returns the value of the first header of this name; `''` also if there is none. */
  getHeader(name: string): string;
  forEach(visit: (name: string, value: string) => void): void;
}

export interface StakeDeps {
  readonly proofs: StakeProofVerifier;
  readonly balances: Pick<StakeBalances, 'balanceOf' | 'balanceInUse'>;
  /** Balance of one step, in base units. */
  readonly step: bigint;
}

interface AuthenticatorOptions {
  readonly tiers: Tiers;
  readonly keys: Pick<ApiKeyRegistry, 'find' | 'tierOf'>;
  readonly rateLimiter: RateLimiter;
  /** Undefined if there is no staked tier: stake headers are then ignored. */
  readonly stake: StakeDeps | undefined;
}

/** What verifying a proof, which takes two milliseconds of CPU time, costs its address, whatever the outcome. */
const VERIFICATION_UNITS = 5;

export class Authenticator {
  readonly #options: AuthenticatorOptions;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  /**
   * Opens the account of a request, which its principal pays, or its address if it has no valid credentials. Returns the
   * reason why these are invalid, too; a spent quota is to be reported first.
   */
  open(headers: RequestHeaders, address: ArrayBuffer) {
    const authenticated = this.authenticate(headers, () => address);
    const [principal, credentialsError] =
      authenticated instanceof GatewayError ? [undefined, authenticated] : [authenticated, undefined];
    const account = this.#options.rateLimiter.openAccount(address, principal, this.tierOf(principal));
    return { account, credentialsError };
  }

  /**
   * Returns the principal that the headers prove; undefined for a request that counts for its address, such as that of
   * a wallet below one step. Invalid credentials are `invalid_api_key` or `invalid_stake_proof`; so are empty ones, which
   * come from a variable that was not set, and whose caller expects more than the free tier. Only a stake proof that was
   * not verified yet needs the address.
   */
  authenticate(headers: RequestHeaders, addressOf: () => ArrayBuffer): Principal | GatewayError | undefined {
    const { keys, stake } = this.#options;
    const key = headers.getHeader('x-api-key');
    const wallet = stake === undefined ? '' : headers.getHeader('x-stake-wallet');
    if (key === '' && hasHeader(headers, 'x-api-key'))
      return new GatewayError('invalid_api_key', 'X-Api-Key is empty: send a key, or leave the header out');
    if (stake !== undefined && wallet === '' && hasHeader(headers, 'x-stake-wallet'))
      return new GatewayError('invalid_stake_proof', 'X-Stake-Wallet is empty: send a wallet, or leave the header out');
    if (key === '' && wallet === '') return undefined;
    const keyPrincipal = keys.find(key);
    if (key !== '' && keyPrincipal === undefined)
      return new GatewayError(
        'invalid_api_key',
        'the API key is unknown, revoked or expired: ask its issuer for another, or leave X-Api-Key out',
      );
    if (stake === undefined || wallet === '') return keyPrincipal;
    const tier = this.#stakedTier(stake, proofFrom(headers, wallet), addressOf);
    if (tier === undefined || tier instanceof GatewayError) return tier ?? keyPrincipal;
    if (keyPrincipal === undefined)
      return { id: `wallet ${wallet}`, tier, key: undefined, wallet, perIpLimit: undefined };
    return isHigher(tier, keyPrincipal.tier) ? { ...keyPrincipal, tier, wallet } : keyPrincipal;
  }

  mustVerify(headers: RequestHeaders): boolean {
    const { stake } = this.#options;
    const wallet = stake === undefined ? '' : headers.getHeader('x-stake-wallet');
    return wallet !== '' && stake?.proofs.mustVerify(proofFrom(headers, wallet)) === true;
  }

  isKeyInvalid({ key }: Principal): boolean {
    return key !== undefined && this.#options.keys.tierOf(key) === undefined;
  }

  /** Reads nothing: the wallet is sampled on, since it is in use. Undefined if the principal has no tier any more. */
  currentTierOf({ key, wallet, tier }: Principal): Tier | undefined {
    const { keys, stake } = this.#options;
    const keyTier = key === undefined ? undefined : keys.tierOf(key);
    if (key !== undefined && keyTier === undefined) return undefined;
    if (stake === undefined || wallet === undefined) return keyTier;
    const balance = stake.balances.balanceInUse(wallet);
    if (balance === undefined) return tier;
    const staked = this.#tierOfStake(balance / stake.step);
    return keyTier !== undefined && (staked === undefined || isHigher(keyTier, staked)) ? keyTier : staked;
  }

  tierOf(principal: Principal | undefined): Tier {
    return principal === undefined ? this.#options.tiers.free : principal.tier;
  }

  #stakedTier({ proofs, balances, step }: StakeDeps, proof: StakeProof, addressOf: () => ArrayBuffer) {
    const { rateLimiter } = this.#options;
    if (proofs.mustVerify(proof)) {
      const address = addressOf();
      // callers whose address has spent its quota must send a proof that was verified before
      if (rateLimiter.peek(address).remaining === 0) return undefined;
      rateLimiter.charge(address, VERIFICATION_UNITS);
    }
    const fault = proofs.findFault(proof);
    if (fault !== undefined) return new GatewayError('invalid_stake_proof', `the stake proof is not valid: ${fault}`);
    return this.#tierOfStake(balances.balanceOf(proof.wallet) / step);
  }

  #tierOfStake(steps: bigint): Tier | undefined {
    return steps > 0n ? this.#options.tiers.staked(steps) : undefined;
  }
}

function proofFrom(headers: RequestHeaders, wallet: string): StakeProof {
  return { wallet, issued: headers.getHeader('x-stake-issued'), signature: headers.getHeader('x-stake-signature') };
}

/** Also true for an empty header. */
function hasHeader(headers: RequestHeaders, wanted: string): boolean {
  let isPresent = false;
  headers.forEach((name) => {
    isPresent ||= name === wanted;
  });
  return isPresent;
}

export const rateLimitKeyOf = (address: ArrayBuffer, principal: Principal | undefined): RateLimitKey =>
  principal === undefined ? addressKeyOf(address) : principal.id;

const isHigher = (tier: Tier, other: Tier): boolean => requestsPerSecond(tier) > requestsPerSecond(other);

const requestsPerSecond = ({ units, windowSeconds }: Tier): number => units / windowSeconds;
