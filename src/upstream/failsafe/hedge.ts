import type { Clock } from '../../domain/clock.ts';

export interface HedgeOptions<T> {
  /** At least one, the best first. None begins before it is needed. */
  readonly attempts: readonly (() => Promise<T>)[];
  readonly clock: Clock;
  /** After so many milliseconds without an answer the next begins beside the first. Never for a second time. */
  readonly hedgeAfterMs: number;
  /** Whether no other could do better than this result. */
  isAcceptable(result: T): boolean;
  /** Whether no other could do better than fail like this. */
  isFinal(thrown: unknown): boolean;
  /** Which of two failures says more. */
  isLessInformative(thrown: unknown, than: unknown): boolean;
}

/**
 * Makes one attempt after another until one settles it, and a second at once when the first takes long. Without any that
 * settles it, the first result that came stands, else the failure that says most. What comes late is dropped.
 */
export function hedgedFailover<T>({
  attempts,
  clock,
  hedgeAfterMs,
  isAcceptable,
  isFinal,
  isLessInformative,
}: HedgeOptions<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let next = 0;
    let running = 0;
    let isSettled = false;
    let fallback: { readonly result: T } | undefined;
    let failure: { readonly thrown: unknown } | undefined;

    const settleOnce = (settle: () => void) => {
      if (isSettled) return;
      isSettled = true;
      cancelHedge();
      settle();
    };
    const startNextOrSettle = () => {
      if (next < attempts.length) startNext();
      else if (running > 0) return;
      else if (fallback !== undefined) resolveOnce(fallback.result);
      else settleOnce(() => reject(failure?.thrown));
    };
    const resolveOnce = (result: T) => settleOnce(() => resolve(result));
    const startNext = () => {
      running++;
      void attempts[next++]?.().then(
        (result) => {
          running--;
          if (isSettled) return;
          if (isAcceptable(result)) return resolveOnce(result);
          fallback ??= { result };
          startNextOrSettle();
        },
        (thrown: unknown) => {
          running--;
          if (isSettled) return;
          if (isFinal(thrown)) return settleOnce(() => reject(thrown));
          if (failure === undefined || isLessInformative(failure.thrown, thrown)) failure = { thrown };
          startNextOrSettle();
        },
      );
    };
    const cancelHedge = clock.after(hedgeAfterMs, () => {
      if (!isSettled && next < attempts.length) startNext();
    });
    startNext();
  });
}
