import type { routes } from '../routes/index.ts';
import type { Param } from '../routing/params.ts';
import type { Wire } from './wire.ts';

type Declared = (typeof routes)[number];
type Asked = Exclude<Declared, { readonly kind: 'post' }>;
type Posted = Extract<Declared, { readonly kind: 'post' }>;
type At<P> = Extract<Declared, { readonly path: P }>;

/** The path of a read, as its route declares it: `/balance/:addr`. */
export type Path = Asked['path'];

/** The path of a question that is too long for a URL. */
export type PostPath = Posted['path'];

/** What a path answers. */
export type Result<P extends Path | PostPath> =
  At<P> extends { readonly result: { readonly _output: infer R } } ? Wire<R> : never;

/** What a path takes in its body. */
export type Body<P extends PostPath> = At<P> extends { readonly body: { readonly _output: infer B } } ? B : never;

/** How the answers of a path are dressed. */
export type EnvelopeOf<P extends Path | PostPath> = At<P>['envelope'];

/** The paths whose answers carry a receipt. */
export type SignedPath = { [P in Path]: EnvelopeOf<P> extends 'signed' ? P : never }[Path];

type Given<T> = { readonly [K in keyof T]: T[K] extends Param<unknown, infer G> ? G : never };
type Optional<T> = { readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  readonly [K in keyof T as undefined extends T[K] ? K : never]?: T[K];
};

/** What a path takes: the names in the path and those of the query, alike. */
export type Parameters<P extends Path> = At<P> extends { readonly params: infer S } ? Optional<Given<S>> : never;
