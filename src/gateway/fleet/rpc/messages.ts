import type { Commitment } from '../../../shared/domain/commitment.ts';
import type { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import type { RequestCost } from '../../../shared/domain/units.ts';
import type { CountReport } from '../../access/quota/counter-store.ts';
import type { Figures } from '../../admin/worker-figures.ts';
import type { EventQuery } from '../../http/events/event-log.ts';
import type { EventPage } from '../../http/events/event-page.ts';
import type { CallScope } from '../../routes/routing/request-scope.ts';
import type { PostAnswer } from '../../routes/routing/route.ts';
import type { ReadRequest } from '../../routes/routing/route-read-through.ts';
import type { CachedRead } from '../../serving/read-through.ts';
import type { CounterMessage } from '../counters/remote-store.ts';

// Messages between a worker and the pipeline process. Each side ignores types that it doesn't know, and members.

/** What a worker sends. Those of a {@link ChargedCaller} are answered by a {@link Response} with their `id`. */
export type WorkerRequest = Readonly<
  /** The newest slots that it has served, and the newest at which it may have signed `exact`. */
  | { type: 'hello'; worker: number; served: Readonly<Partial<Record<Commitment, Slot>>>; granted: Slot }
  | ({ type: 'read'; id: number } & AnswerRequest & ChargedCaller)
  /** A call of a node's method, its body as it came. */
  | ({ type: 'call'; id: number; body: Uint8Array } & CallScope & ChargedCaller)
  /** Which events of accounts are wanted. */
  | { type: 'events'; id: number; query: EventQuery }
  /** The keys that were read since the last slot: what is read at any worker is kept current for all. */
  | { type: 'hot-keys'; keys: readonly string[] }
  | { type: 'subscribe' | 'subscribe-logs'; id: number; address: string; commitment: Commitment; caller: string }
  | { type: 'add-caller' | 'remove-caller'; id: number; caller: string }
  | { type: 'unsubscribe'; id: number }
  | { type: 'figures'; figures: Figures; problems: readonly string[] }
  | { type: 'report'; reports: readonly CountReport[] }
>;

export type WorkerRequestOf<T extends WorkerRequest['type']> = Extract<WorkerRequest, { readonly type: T }>;

export type AnswerRequest = Omit<ReadRequest, 'route' | 'params'>;

/** The caller that a request counts for: an empty one for the gateway itself. */
export type ChargedCaller = Pick<RequestCost, 'caller' | 'hasPriority'>;

export type PipelineMessage =
  | Readonly<
      /** Encoded events as a snapshot, the place in the log that continues it, and the structures by which all are encoded. */
      | { type: 'joined'; path: string; from: number; snapshot: readonly Uint8Array[]; structures: Structures }
      | { type: 'started' }
      | { type: 'log-grew' }
      | { type: 'account-changed'; id: number; slot: Slot; isReorg: boolean }
      | { type: 'logs-ready'; id: number }
      | { type: 'logs'; id: number; slot: Slot; transaction: string }
      | { type: 'subscription-ended'; id: number; reason: GatewayError }
      | { type: 'count'; message: CounterMessage }
    >
  | Response;

/** `at` is the place at which the log ended when the result was encoded. */
export type Response = Result & { readonly id: number; readonly at: number; readonly spent: Spent };

export type Result = Readonly<
  /** A `StoredAnswer`, encoded. */
  | { type: 'answer'; answer: Uint8Array; cacheStatus: CachedRead['cacheStatus'] }
  | { type: 'call-result'; answer: PostAnswer }
  | { type: 'event-page'; page: EventPage | undefined }
  | { type: 'failed'; error: GatewayError }
>;

type Spent = Pick<RequestCost, 'calls' | 'scans' | 'bytes' | 'rows' | 'addresses'>;

type Structures = readonly (readonly string[])[];
