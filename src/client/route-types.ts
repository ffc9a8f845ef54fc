import type { Param, PreSerialized, routes } from '../gateway/routes/index.ts';

type DeclaredRoute = (typeof routes)[number];
type GetRoute = Exclude<DeclaredRoute, { readonly kind: 'post' }>;
type PostRoute = Extract<DeclaredRoute, { readonly kind: 'post' }>;
type RouteAt<P> = Extract<DeclaredRoute, { readonly path: P }>;

/** The path of a GET route as declared: `/balance/:addr`. */
export type Path = GetRoute['path'];

/** The path of a POST route. */
export type PostPath = PostRoute['path'];

/**
 * The type of a gateway value after a trip through JSON. An integer that may exceed 2^53 is a `number` where that is
 * exact and otherwise a `bigint`; JSON that a node wrote is `unknown`.
 */
type Jsonify<T> = T extends bigint
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

export type Result<P extends Path | PostPath> =
  RouteAt<P> extends { readonly result: { readonly _output: infer R } } ? Jsonify<R> : never;

export type Body<P extends PostPath> = RouteAt<P> extends { readonly body: { readonly _output: infer B } } ? B : never;

export type EnvelopeOf<P extends Path | PostPath> = RouteAt<P>['envelope'];

export type SignedPath = { [P in Path]: EnvelopeOf<P> extends 'signed' ? P : never }[Path];

type ParameterInputs<T> = { readonly [K in keyof T]: T[K] extends Param<unknown, infer G> ? G : never };
type OptionalWhereUndefined<T> = { readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  readonly [K in keyof T as undefined extends T[K] ? K : never]?: T[K];
};

export type Parameters<P extends Path> =
  RouteAt<P> extends { readonly params: infer S } ? OptionalWhereUndefined<ParameterInputs<S>> : never;
