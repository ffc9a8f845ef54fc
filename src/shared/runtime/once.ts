/** Returns the promise of a first call to all others, until it fails. */
export function once<A>(work: () => Promise<A>): () => Promise<A> {
  let pending: Promise<A> | undefined;
  return () => {
    pending ??= work().catch((thrown: unknown) => {
      pending = undefined;
      throw thrown;
    });
    return pending;
  };
}
