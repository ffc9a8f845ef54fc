import type { Slot } from '../domain/slot.ts';
import type { EnvelopeOf, Parameters, Path, Result, SignedPath } from './route-types.ts';
import type { RequestOptions } from './send-request.ts';
import type { VerifiedAnswer } from './verify-answer.ts';

/** A signed answer. */
export interface Read<R> extends VerifiedAnswer<R> {
  /** True when the gateway proves that `since` still holds; `slot` and `receipt` are of now. */
  readonly unchanged: boolean;
  /** Names the result. */
  readonly etag: string | null;
}

/** What a path answers. `/network`, `/health` and `/pubkey` carry no receipt, and the last two are about no slot. */
export type Answer<P extends Path> =
  EnvelopeOf<P> extends 'signed'
    ? Read<Result<P>>
    : EnvelopeOf<P> extends 'anchored'
      ? { readonly result: Result<P>; readonly slot: Slot }
      : { readonly result: Result<P> };

/** How a read is made. */
export interface ReadOptions<P extends Path = SignedPath> extends RequestOptions {
  /** The answer must hold at this slot or a later one. */
  readonly minSlot?: Slot;
  /** `true`: the answer is signed together with something that nobody can have foreseen, so it is made now. */
  readonly nonce?: P extends SignedPath ? boolean | string : never;
  /** An answer to the same question: if it still holds, only its new proof travels. */
  readonly since?: P extends SignedPath ? Read<Result<P>> : never;
}

/** What a read takes beside its path: without parameters it may be nothing. */
export type ReadArguments<P extends Path> =
  Record<never, never> extends Parameters<P>
    ? [params?: Parameters<P>, options?: ReadOptions<P>]
    : [params: Parameters<P>, options?: ReadOptions<P>];
