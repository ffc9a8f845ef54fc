import { GatewayError } from '../domain/gateway-error.ts';
import type { ApiKeys } from './api-keys/api-keys.ts';
import { type Identity, identityOf } from './limits/identity.ts';
import type { Limiter, Quota } from './limits/limiter.ts';
import type { Account, Tier, Tiers } from './limits/tier.ts';
import type { Holdings } from './stake/holdings.ts';
import type { StakeProof, StakeProofs } from './stake/stake-proof.ts';

/** The headers of a request; `''` for one that it has not. */
export interface Credentials {
  getHeader(name: string): string;
}

/** What it takes to know wallets. */
export interface Stake {
  readonly proofs: StakeProofs;
  readonly holdings: Pick<Holdings, 'held'>;
  /** In base units. */
  readonly step: bigint;
}

export interface CallersOptions {
  readonly tiers: Tiers;
  readonly keys: Pick<ApiKeys, 'find' | 'isOpen'>;
  readonly limiter: Limiter;
  /** Absent: nobody is asked for a wallet, and what is said of one is not heard. */
  readonly stake: Stake | undefined;
}

/** Whom a request was counted for, and what is left to it. */
export interface Counted {
  readonly account: Account | undefined;
  readonly quota: Quota;
  /** Why what it shows is not valid. Who has nothing left hears of that first. */
  readonly refusal: GatewayError | undefined;
}

/** Tells who asks, and of which tier it is. */
export class Callers {
  readonly #options: CallersOptions;

  constructor(options: CallersOptions) {
    this.#options = options;
  }

  /** Counts a request for whoever sent it: for its address where it shows nothing, or nothing valid. */
  count(headers: Credentials, address: ArrayBuffer, weight: number): Counted {
    const known = this.accountOf(headers, address);
    const [account, refusal] = known instanceof GatewayError ? [undefined, known] : [known, undefined];
    return { account, refusal, quota: { ...this.#options.limiter.take(address, weight, account) } };
  }

  /**
   * The account that a request names; undefined for one that counts for its address, such as a wallet that holds less
   * than a step. What is shown and isn't valid is `invalid_api_key` or `invalid_stake_proof`.
   */
  accountOf(headers: Credentials, address: ArrayBuffer): Account | GatewayError | undefined {
    const { keys, stake } = this.#options;
    const key = headers.getHeader('x-api-key');
    const wallet = stake === undefined ? '' : headers.getHeader('x-stake-wallet');
    if (key === '' && wallet === '') return undefined;
    const keyed = key === '' ? undefined : keys.find(key);
    if (key !== '' && keyed === undefined)
      return new GatewayError('invalid_api_key', 'the API key is unknown, revoked or expired');
    if (stake === undefined || wallet === '') return keyed;
    const [issued, signature] = [headers.getHeader('x-stake-issued'), headers.getHeader('x-stake-signature')];
    const tier = this.#stakedTier(stake, { wallet, issued, signature }, address);
    if (tier === undefined || tier instanceof GatewayError) return tier ?? keyed;
    if (keyed === undefined) return { id: `wallet ${wallet}`, tier, key: undefined, perIpLimit: undefined };
    return rateOf(tier) > rateOf(keyed.tier) ? { ...keyed, tier } : keyed;
  }

  /** False for an account whose key was revoked, or has expired, since it was shown. */
  isStillKnown({ key }: Account): boolean {
    return key === undefined || this.#options.keys.isOpen(key);
  }

  /** The tier that a caller is of. */
  tierOf(account: Account | undefined): Tier {
    return account === undefined ? this.#options.tiers.free : account.tier;
  }

  /** Undefined for a wallet that holds too little. */
  #stakedTier({ proofs, holdings, step }: Stake, proof: StakeProof, address: ArrayBuffer) {
    // To verify takes long, so who has spent what its address has must come with a proof that is known.
    if (!proofs.isKnown(proof) && this.#options.limiter.peek(address).remaining === 0) return undefined;
    const fault = proofs.faultOf(proof);
    if (fault !== undefined) return new GatewayError('invalid_stake_proof', `the stake proof is not valid: ${fault}`);
    const steps = holdings.held(proof.wallet) / step;
    return steps > 0n ? this.#options.tiers.staked(steps) : undefined;
  }
}

/** Whom a request counts for. */
export const whoIs = (address: ArrayBuffer, account: Account | undefined): Identity =>
  account === undefined ? identityOf(address) : account.id;

const rateOf = ({ requests, windowSeconds }: Tier): number => requests / windowSeconds;
