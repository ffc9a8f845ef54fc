import { type MonoTypeOperatorFunction, tap } from 'rxjs';
import type { ClusterVitals } from '../../shared/domain/cluster-vitals.ts';

export interface AttemptOptions {
  readonly vitals: ClusterVitals;
  /** Called with the first failure in a row of a part; its previous answer is still served. */
  readonly onError: (part: string, cause: unknown) => void;
}

/** Does a part's work with each value. What that throws fails the part alone: else it would end the pipeline, and the process. */
export const attempt = <T>(
  part: string,
  work: (value: T) => void,
  { vitals, onError }: AttemptOptions,
): MonoTypeOperatorFunction<T> =>
  tap((value) => {
    try {
      work(value);
      vitals.failingParts.delete(part);
    } catch (thrown) {
      if (vitals.recordFailure(part)) onError(part, thrown);
    }
  });
