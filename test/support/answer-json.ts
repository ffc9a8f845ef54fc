import type { EnvelopeOf, Path, PostPath, Result } from '../../src/client/route-types.ts';
import type { Receipt } from '../../src/client/verify/verify-receipt.ts';

type MemberNames<T> = T extends unknown ? keyof T : never;
type MemberOf<T, K> = T extends { readonly [N in K & PropertyKey]?: infer V } ? V : never;
type ItemsOf<T> = T extends readonly (infer Item)[] ? Item : never;
type ObjectsOf<T> = T extends readonly unknown[] ? never : T extends object ? T : never;
/** Its first items are read without a check, which is what the other items need. */
type ListOf<Item> = readonly [Item, Item, Item, Item, Item, Item, Item, Item, ...(readonly Item[])];

/**
 * JSON as a test reads it: each member that any variant of the type has, as if it were there. One that is missing is
 * undefined at run time: the assertion on it, or the read of its member, fails the test.
 */
export type Readable<T> = unknown extends T
  ? T
  :
      | (T extends bigint ? number : T extends string | number | boolean ? T : never)
      | ([ItemsOf<T>] extends [never] ? never : ListOf<Readable<ItemsOf<T>>>)
      | ([ObjectsOf<T>] extends [never]
          ? never
          : { readonly [K in MemberNames<ObjectsOf<T>>]: Readable<MemberOf<ObjectsOf<T>, K>> });

export interface RpcErrorJson {
  readonly code: number;
  readonly message: string;
}

/** The body of an answer, or of a refusal: a test reads the members of the one that it expects. */
export interface AnswerJson<R = unknown, E = string> {
  readonly error: E;
  readonly message: string;
  readonly requestId: string;
  readonly result: R;
  readonly slot: number;
  readonly ts: number;
  readonly receipt: Receipt;
  readonly id: unknown;
}

type Pattern<P extends string> = P extends `${infer Before}:${string}/${infer After}`
  ? `${Before}${string}/${After}`
  : P extends `${infer Before}:${string}`
    ? `${Before}${string}`
    : P;
type RouteOf<T extends string, P extends Path | PostPath = Path | PostPath> = P extends unknown
  ? T extends Pattern<P> | `${Pattern<P>}?${string}`
    ? P
    : never
  : never;
type BodyOf<P extends Path | PostPath> =
  EnvelopeOf<P> extends 'plain' ? Readable<Result<P>> & AnswerJson : AnswerJson<Readable<Result<P>>>;
/** `/token/:mint` also fits `/token/:mint/holders`: the longest route counts. */
type LongestOf<P extends Path | PostPath> = [Extract<P, `${string}/holders`>] extends [never]
  ? P
  : Extract<P, `${string}/holders`>;

/** The body of what a path of `/api/v1` answers; the result is unknown where the path is not written out. */
export type JsonAt<T extends string> = [RouteOf<T>] extends [never] ? AnswerJson : BodyOf<LongestOf<RouteOf<T>>>;
