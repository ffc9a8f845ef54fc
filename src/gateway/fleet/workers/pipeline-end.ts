import { once } from 'node:events';
import { chmodSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { AccountChange, AccountChangeSource, AccountSubscription } from '../../../shared/domain/account-change.ts';
import type { Clock } from '../../../shared/domain/clock.ts';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { GATEWAY_CALLER, RequestCost } from '../../../shared/domain/units.ts';
import { repeat } from '../../../shared/runtime/repeat.ts';
import { sleep } from '../../../shared/runtime/sleep.ts';
import type { CounterConnection, CounterStore, CountReport } from '../../access/quota/counter-store.ts';
import type { WorkerFigures } from '../../admin/worker-figures.ts';
import type { Cache } from '../../cache/cache.ts';
import type { ReadEvents } from '../../http/events/event-log.ts';
import type { LogSource } from '../../live/logs/live-logs.ts';
import type { ClaimGuard } from '../../receipts/equivocation-guard.ts';
import type { CallScope } from '../../routes/routing/request-scope.ts';
import type { PostAnswer } from '../../routes/routing/route.ts';
import type { CachedRead } from '../../serving/read-through.ts';
import type { Sealer } from '../../serving/sealer.ts';
import { EventCodec, STRUCTURES } from '../codec.ts';
import type { CounterMessage } from '../counters/remote-store.ts';
import type { Event, PipelineVitals } from '../events.ts';
import { AnswerPublisher } from '../replication/answer-publisher.ts';
import { Connection } from '../rpc/connection.ts';
import type {
  AnswerRequest,
  ChargedCaller,
  PipelineMessage,
  Result,
  WorkerRequest,
  WorkerRequestOf,
} from '../rpc/messages.ts';
import { LOG_BYTES, LogWriter, MAX_PAYLOAD_BYTES } from '../transport/shared-log/log-writer.ts';

export interface PipelineService {
  /** Resolves when the first answers are there, or are not waited for any longer. */
  readonly started: Promise<void>;
  readonly cache: Cache;
  readonly guard: ClaimGuard & { advance(finalizedSlot: Slot): void };
  readonly sealer: Pick<Sealer, 'invalidUntilMs'>;
  readonly liveAccounts: AccountChangeSource;
  readonly liveLogs: LogSource;
  readonly counterStore: CounterStore;
  readonly figures: WorkerFigures;
  readonly readEvents: ReadEvents;
  vitals(): PipelineVitals;
  read(request: AnswerRequest, cost: RequestCost): Promise<CachedRead>;
  answerRpc(body: Buffer, scope: CallScope, cost: RequestCost): Promise<PostAnswer>;
}

export interface PipelineEndOptions {
  readonly folder: string;
  readonly epoch: number;
  /** The workers that live already, and are waited for. */
  readonly workers: readonly number[];
  readonly clock: Clock;
  /** Ends workers that have not come: they don't know what others show. Resolves once they have ended. */
  readonly endLate: (workers: readonly number[]) => Promise<void>;
}

const GATHER_MS = 500;

/** Time between two checks of what dates leases where nothing else happens, and between two of the vitals. */
const WATERMARKS_MS = 50;
const VITALS_MS = 500;

/** The most bytes that the log grows by until workers are notified, so that it never overtakes an idle one. */
const MAX_UNREPORTED_BYTES = LOG_BYTES / 16;

export const SOCKET_NAME = 'socket';

type OpenedService = PipelineService & { readonly publisher: AnswerPublisher };

interface Worker {
  readonly connection: Connection<PipelineMessage, WorkerRequest>;
  /** Its number; -1 before it has said it. */
  id: number;
  counters: CounterConnection | undefined;
  readonly subscriptions: Map<number, AccountSubscription>;
}

/** The pipeline process as its workers see it: it logs what its cache serves, and does for them what only it can do. */
export class PipelineEnd {
  readonly #options: PipelineEndOptions;
  readonly #writer: LogWriter;
  readonly #logPath: string;
  readonly #codec = new EventCodec();
  readonly #workers = new Set<Worker>();
  readonly #server: Server;
  readonly #gathering: Set<number>;
  #opened: OpenedService | undefined;
  #nextMember = 1;
  #isFlushDue = false;
  /** Whether workers are to read the log before they need something that is in it. */
  #isNewsDue = false;
  #reportedEnd = 0;
  #loggedVitals = '';
  #stops: (() => void)[] = [];
  readonly #allJoined = new AbortController();

  constructor(options: PipelineEndOptions) {
    const { folder, epoch, workers } = options;
    this.#options = options;
    this.#logPath = join(folder, `log-${epoch}`);
    // Those of processes that were killed use up the memory of the folder. A worker that still reads one has it open.
    for (const name of readdirSync(folder)) if (name.startsWith('log-')) rmSync(join(folder, name));
    this.#writer = new LogWriter({ path: this.#logPath, bytes: LOG_BYTES });
    this.#gathering = new Set(workers);
    this.#server = createServer((socket) => this.#connect(socket)).on('error', () => {}); // of one connection, or of `open`
  }

  /** Waits until each worker that lives has reported what it has served, which raises the floors here. */
  async open(service: PipelineService): Promise<void> {
    const { folder, clock, endLate } = this.#options;
    const publish = (event: Event): void => this.#log(event);
    const maxResultBytes = MAX_PAYLOAD_BYTES / 4;
    const publisher = new AnswerPublisher({ ...service, clock, codec: this.#codec, publish, maxResultBytes });
    this.#opened = { ...service, publisher };
    const path = join(folder, SOCKET_NAME);
    rmSync(path, { force: true });
    await once(this.#server.listen(path), 'listening');
    chmodSync(path, 0o600);
    if (this.#gathering.size > 0) await sleep(clock, GATHER_MS, this.#allJoined.signal).catch(() => {});
    if (this.#gathering.size > 0) await endLate([...this.#gathering]);
    this.#gathering.clear();
    this.#stops = [
      repeat(clock, WATERMARKS_MS, () => this.publishWatermarks()),
      repeat(clock, VITALS_MS, () => this.#logVitals()),
    ];
  }

  onTip(commitment: Commitment, slot: Slot, parent: Slot | undefined): void {
    this.#opened?.publisher.onTip(commitment, slot, parent);
  }

  publishWatermarks(): void {
    this.#opened?.publisher.publishWatermarks();
  }

  reloadReceiptKeys(): void {
    this.#log({ type: 'receipt-keys-changed' });
  }

  close(): void {
    for (const stop of this.#stops) stop();
    this.#server.close();
    for (const { connection } of this.#workers) connection.close();
    this.#writer.close();
    rmSync(this.#logPath, { force: true });
  }

  #log(event: Event): void {
    this.#writer.append(this.#codec.encode(event));
    if (event.type !== 'answer-stored' || event.isLive) this.#isNewsDue = true; // its requester reads another answer
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    setImmediate(() => this.#flush());
  }

  #flush(): number {
    this.#isFlushDue = false;
    this.#opened?.publisher.onFlushed();
    const end = this.#writer.flush();
    if (this.#isNewsDue || end - this.#reportedEnd > MAX_UNREPORTED_BYTES) {
      for (const { connection } of this.#workers) connection.send({ type: 'log-grew' });
      this.#isNewsDue = false;
      this.#reportedEnd = end;
    }
    return end;
  }

  #logVitals(): void {
    const vitals = this.#open().vitals();
    const text = JSON.stringify(vitals);
    if (text === this.#loggedVitals) return;
    this.#loggedVitals = text;
    this.#log({ type: 'vitals-changed', vitals });
  }

  #open(): OpenedService {
    if (this.#opened === undefined) throw new Error('the pipeline process is not open yet');
    return this.#opened;
  }

  #connect(socket: Socket): void {
    const worker: Worker = {
      connection: new Connection(
        socket,
        (message) => this.#handle(worker, message),
        () => this.#onGone(worker),
      ),
      id: -1,
      counters: undefined,
      subscriptions: new Map(),
    };
    this.#workers.add(worker);
  }

  #onGone(worker: Worker): void {
    this.#opened?.figures.leave(`worker ${worker.id}`);
    this.#workers.delete(worker);
    worker.counters?.leave();
    for (const subscription of worker.subscriptions.values()) subscription.end();
  }

  #handle(worker: Worker, message: WorkerRequest): void {
    const { cache, figures, read, answerRpc, readEvents, publisher } = this.#open();
    const { subscriptions } = worker;
    if (message.type === 'hello') this.#join(worker, message);
    else if (message.type === 'read')
      void this.#respond(
        worker,
        message,
        (cost) => read(message, cost),
        ({ entry, cacheStatus }) => ({ type: 'answer', answer: publisher.encodeRequested(entry), cacheStatus }),
      );
    else if (message.type === 'call')
      void this.#respond(
        worker,
        message,
        (cost) => answerRpc(Buffer.from(message.body), message, cost),
        (answer) => ({ type: 'call-result', answer }),
      );
    else if (message.type === 'events')
      void this.#respond(
        worker,
        { id: message.id, caller: GATEWAY_CALLER, hasPriority: false }, // read once for all subscribers of a worker
        () => readEvents(message.query),
        (page) => ({ type: 'event-page', page }),
      );
    else if (message.type === 'hot-keys') for (const key of message.keys) cache.get(key);
    else if (message.type === 'subscribe' || message.type === 'subscribe-logs') this.#subscribe(worker, message);
    else if (message.type === 'add-caller') subscriptions.get(message.id)?.addCaller(message.caller);
    else if (message.type === 'remove-caller') subscriptions.get(message.id)?.removeCaller(message.caller);
    else if (message.type === 'unsubscribe') {
      subscriptions.get(message.id)?.end();
      subscriptions.delete(message.id);
    } else if (message.type === 'figures') figures.accept(`worker ${worker.id}`, message.figures, message.problems);
    else if (message.type === 'report') void this.#report(worker, message.reports);
    else message.type satisfies never; // of a worker of another build
  }

  #join(worker: Worker, { worker: id, served, granted }: WorkerRequestOf<'hello'>): void {
    const { cache, guard, vitals, started, publisher, counterStore } = this.#open();
    const { connection } = worker;
    worker.id = id;
    cache.raiseFloors(served);
    if (granted > 0) guard.advance(granted);
    const live = publisher.liveAnswers();
    const from = this.#flush();
    const missed: Event = { type: 'receipt-keys-changed' }; // while there was no process that could publish it
    const snapshot: Event[] = [missed, { type: 'vitals-changed', vitals: vitals() }, ...publisher.dates(), ...live];
    connection.send({
      type: 'joined',
      path: this.#logPath,
      from,
      snapshot: snapshot.map((event) => this.#codec.encode(event)),
      structures: STRUCTURES,
    });
    const member = `${id} ${this.#nextMember++}`; // no other had that name before
    const send = (message: CounterMessage): void => connection.send({ type: 'count', message });
    worker.counters = counterStore.join(member, {
      onTotal: (total) => send({ type: 'total', total }),
      onStale: (stale) => send({ type: 'stale', id: stale }),
    });
    void started.then(() => connection.send({ type: 'started' }));
    this.#gathering.delete(id);
    if (this.#gathering.size === 0) this.#allJoined.abort();
  }

  /** Sends the result of some work, which begins again where an operator was found to lie: the result may be made of its values. */
  async #respond<T>(
    { connection }: Worker,
    { id, caller, hasPriority }: ChargedCaller & { readonly id: number },
    work: (cost: RequestCost) => Promise<T>,
    resultOf: (made: T) => Result,
  ): Promise<void> {
    const { started, cache } = this.#open();
    const cost = new RequestCost(caller, hasPriority);
    let result: Result | undefined;
    while (result === undefined) {
      const { unagreedDrops } = cache;
      const hasFoundLie = (): boolean => unagreedDrops !== cache.unagreedDrops;
      try {
        await started;
        const made = await work(cost);
        if (!hasFoundLie()) result = resultOf(made);
      } catch (thrown) {
        if (!hasFoundLie()) result = { type: 'failed', error: GatewayError.from(thrown) };
      }
    }
    const at = this.#flush(); // what the worker learns from the result, others can read
    const { calls, scans, bytes, rows, addresses } = cost;
    connection.send({ ...result, id, at, spent: { calls, scans, bytes, rows, addresses } });
  }

  async #report({ connection, counters }: Worker, reports: readonly CountReport[]): Promise<void> {
    if (counters === undefined) return;
    const answers = await counters.report(reports).catch(() => undefined);
    connection.send({ type: 'count', message: { type: 'reported', answers, members: counters.members() } });
  }

  #subscribe(
    { connection, subscriptions }: Worker,
    { type, id, address, commitment, caller }: WorkerRequestOf<'subscribe' | 'subscribe-logs'>,
  ): void {
    const { liveAccounts, liveLogs } = this.#open();
    const onEnd = (reason: GatewayError): void => {
      subscriptions.delete(id);
      connection.send({ type: 'subscription-ended', id, reason });
    };
    const account = {
      onEnd,
      onChange: ({ slot, isReorg }: AccountChange): void => {
        this.#flush();
        connection.send({ type: 'account-changed', id, slot, isReorg });
      },
    };
    const logs = {
      onEnd,
      onReady: (): void => connection.send({ type: 'logs-ready', id }),
      onLogs: (slot: Slot, transaction: string): void => connection.send({ type: 'logs', id, slot, transaction }),
    };
    try {
      const subscription =
        type === 'subscribe'
          ? liveAccounts.subscribe(address, commitment, account, caller)
          : liveLogs.subscribe(address, commitment, logs, caller);
      subscriptions.set(id, subscription);
    } catch (thrown) {
      onEnd(GatewayError.from(thrown));
    }
  }
}
