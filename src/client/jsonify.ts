import type { PreSerialized } from '../routing/schemas.ts';

/**
 * The type of a gateway value after a trip through JSON. An integer that may exceed 2^53 is a `number` where that is
 * exact and otherwise a `bigint`; JSON that a node wrote is `unknown`.
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
