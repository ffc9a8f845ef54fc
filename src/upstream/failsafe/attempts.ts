import type { Clock } from '../../domain/clock.ts';

export interface Attempts<T> {
  /** At least one, the best first. None begins before it is needed. */
  readonly tries: readonly (() => Promise<T>)[];
  readonly clock: Clock;
  /** After so many milliseconds without an answer the next begins beside the first. Never for a second time. */
  readonly hedgeAfterMs: number;
  /** Whether no other could do better than this result. */
  settles(result: T): boolean;
  /** Whether no other could do better than fail like this. */
  isFinal(thrown: unknown): boolean;
  /** Which of two failures says more. */
  worse(thrown: unknown, than: unknown): boolean;
}

/**
 * Makes one attempt after another until one settles it, and a second at once when the first takes long. Without any that
 * settles it, the first result that came stands, else the failure that says most. What comes late is dropped.
 */
export function firstGood<T>({ tries, clock, hedgeAfterMs, settles, isFinal, worse }: Attempts<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let next = 0;
    let running = 0;
    let over = false;
    let fallback: { readonly result: T } | undefined;
    let failure: { readonly thrown: unknown } | undefined;

    const finish = (settle: () => void) => {
      if (over) return;
      over = true;
      disarm();
      settle();
    };
    const goOn = () => {
      if (next < tries.length) begin();
      else if (running > 0) return;
      else if (fallback !== undefined) finishWith(fallback.result);
      else finish(() => reject(failure?.thrown));
    };
    const finishWith = (result: T) => finish(() => resolve(result));
    const begin = () => {
      running++;
      void tries[next++]?.().then(
        (result) => {
          running--;
          if (over) return;
          if (settles(result)) return finishWith(result);
          fallback ??= { result };
          goOn();
        },
        (thrown: unknown) => {
          running--;
          if (over) return;
          if (isFinal(thrown)) return finish(() => reject(thrown));
          if (failure === undefined || worse(failure.thrown, thrown)) failure = { thrown };
          goOn();
        },
      );
    };
    const disarm = clock.after(hedgeAfterMs, () => {
      if (!over && next < tries.length) begin();
    });
    begin();
  });
}
