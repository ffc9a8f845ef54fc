import type { Clock } from '../../../shared/domain/clock.ts';

export interface HedgeOptions<T> {
  /**
   * At least one attempt, the best first. None starts before it is needed. A listener is called if another has settled
   * all before its own has ended.
   */
  readonly attempts: readonly ((onNotNeeded: (listener: () => void) => void) => Promise<T>)[];
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
    let next = 0;
    /** The attempts that have not ended, and the listeners of each. */
    const running = new Map<number, (() => void)[]>();
    let isSettled = false;
    let fallback: { readonly result: T } | undefined;
    let failure: { readonly thrown: unknown } | undefined;

    const settleOnce = (settle: () => void) => {
      if (isSettled) return;
      isSettled = true;
      cancelHedge();
      settle();
      for (const listeners of running.values()) for (const listener of listeners) listener();
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
      const listeners: (() => void)[] = [];
      running.set(index, listeners);
      attempt((listener) => listeners.push(listener))
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
