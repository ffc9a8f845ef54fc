import type { PreSerialized } from '../routing/schemas.ts';

/**
 * What a value of the gateway is once it has travelled as JSON. An integer that may pass 2^53 is a `number` where that
 * is exact and else a `bigint`; what a node wrote itself is `unknown`.
 */
export type Jsonify<T> = T extends bigint
  ? number | bigint
  : T extends PreSerialized<infer Of>
    ? Jsonify<Of>
    : T extends string | number | boolean | null | undefined
      ? T
      : T extends readonly (infer Item)[]
        ? readonly Jsonify<Item>[]
        : T extends object
          ? { readonly [K in keyof T]: Jsonify<T[K]> }
          : T;
