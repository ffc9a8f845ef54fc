import type { Clock } from '../../../shared/domain/clock.ts';

export interface HedgeOptions<T> {
  /**
   * At least one attempt, the best first. None starts before it is needed. Each is given a signal that aborts when no
   * result is needed any more.
   */
  readonly attempts: readonly ((signal: AbortSignal) => Promise<T>)[];
  readonly clock: Clock;
  /** Milliseconds without a result after which a second attempt starts, at most once. */
  readonly hedgeAfterMs: number;
  onHedge?(): void;
  /** Decides whether no other attempt could give a better result. */
  isAcceptable(result: T): boolean;
  /** Decides whether every other attempt would fail alike. */
  isFinal(thrown: unknown): boolean;
  /** Decides whether the first of two failures says less than the second. */
  isLessInformative(thrown: unknown, than: unknown): boolean;
}

/** Why an attempt is aborted whose result no longer matters. */
const NOT_NEEDED = 'another attempt has settled it';

/**
 * Makes one attempt after another until one gives an acceptable result, and starts a second early when the first is
 * slow (Dean and Barroso, "The Tail at Scale"). Without an acceptable result the first result counts, else the failure
 * that says most. Late results are dropped.
 */
export function hedgedFailover<T>({
  attempts,
  clock,
  hedgeAfterMs,
  onHedge,
  isAcceptable,
  isFinal,
  isLessInformative,
}: HedgeOptions<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const settled = new AbortController();
    let next = 0;
    const running = new Set<number>();
    let isSettled = false;
    let fallback: { readonly result: T } | undefined;
    let failure: { readonly thrown: unknown } | undefined;

    const settleOnce = (settle: () => void) => {
      if (isSettled) return;
      isSettled = true;
      cancelHedge();
      settle();
      if (running.size > 0) settled.abort(NOT_NEEDED); // without a reason it would make an error with a stack
    };
    const startNextOrSettle = () => {
      if (next < attempts.length) startNext();
      else if (running.size > 0) return;
      else if (fallback !== undefined) resolveOnce(fallback.result);
      else settleOnce(() => reject(failure?.thrown));
    };
    const resolveOnce = (result: T) => settleOnce(() => resolve(result));
    const onFailure = (thrown: unknown): void => {
      if (isFinal(thrown)) {
        settleOnce(() => reject(thrown));
        return;
      }
      if (failure === undefined || isLessInformative(failure.thrown, thrown)) failure = { thrown };
      startNextOrSettle();
    };
    const startNext = () => {
      const index = next++;
      const attempt = attempts[index];
      if (attempt === undefined) return;
      running.add(index);
      attempt(settled.signal)
        .then((result) => {
          running.delete(index); // with the result: another that ends in the same turn still counts as running
          if (isSettled) return;
          if (isAcceptable(result)) return resolveOnce(result);
          fallback ??= { result };
          startNextOrSettle();
        })
        .catch((thrown: unknown) => {
          running.delete(index);
          if (!isSettled) onFailure(thrown);
        });
    };
    const cancelHedge = clock.after(hedgeAfterMs, () => {
      if (isSettled || next >= attempts.length) return;
      onHedge?.();
      startNext();
    });
    startNext();
  });
}
