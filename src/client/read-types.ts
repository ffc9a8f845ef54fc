import type { Slot } from '../shared/domain/slot.ts';
import type { EnvelopeOf, Parameters, Path, PostPath, Result, SignedPath } from './route-types.ts';
import type { RequestOptions } from './send-request.ts';
import type { VerifiedAnswer } from './verify-answer.ts';

export interface Read<R> extends VerifiedAnswer<R> {
  /** True if the gateway proves that the result of `since` holds at its slot or later; `slot` and `receipt` are of that proof. */
  readonly unchanged: boolean;
  /** The identifier of the result (`ETag`). */
  readonly etag: string | null;
}

/** The answer of a path. `/network`, `/health` and `/pubkey` have no receipt, and the last two have no slot. */
export type Answer<P extends Path> =
  EnvelopeOf<P> extends 'signed'
    ? Read<Result<P>>
    : EnvelopeOf<P> extends 'anchored'
      ? { readonly result: Result<P>; readonly slot: Slot }
      : { readonly result: Result<P> };

export interface ReadOptions<P extends Path = SignedPath> extends RequestOptions {
  /** The lowest slot that the answer may be about. */
  readonly minSlot?: Slot;
  /** The fewest operators that must give the answer at its slot: the gateway reads them, and the receipt must say so. */
  readonly agree?: 'agree' extends keyof Parameters<P> ? number : never;
  /** True has the answer signed with a random nonce, which proves that it was made after the request. */
  readonly nonce?: P extends SignedPath ? boolean | string : never;
  /** An earlier answer to the same request: if it still holds, only a new receipt is transferred. */
  readonly since?: P extends SignedPath ? Read<Result<P>> : never;
}

/** The options of one POST. */
export interface PostOptions<P extends PostPath> extends RequestOptions {
  /** The lowest slot that the answer may be about. */
  readonly minSlot?: EnvelopeOf<P> extends 'plain' ? never : Slot;
}

/** The arguments of a read after its path; all are optional if the path has no required parameters. */
export type ReadArguments<P extends Path> =
  Record<never, never> extends Parameters<P>
    ? [params?: Parameters<P>, options?: ReadOptions<P>]
    : [params: Parameters<P>, options?: ReadOptions<P>];
