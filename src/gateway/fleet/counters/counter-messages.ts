import type { CountAnswer, CountReport, CountTotal } from '../../access/quota/counter-store.ts';

export interface CounterRequest {
  readonly id: number;
  readonly reports: readonly CountReport[];
}

/** What the pipeline process sends to a worker about its counters; no answers if the store is lost. */
export type CounterMessage = Readonly<
  | { type: 'reported'; id: number; answers: readonly (CountAnswer | undefined)[] | undefined; members: number }
  | { type: 'total'; total: CountTotal }
  | { type: 'stale'; id: string | undefined }
>;
