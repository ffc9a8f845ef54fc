import { connect } from 'node:net';
import { join } from 'node:path';
import type { AccountSubscriber, AccountSubscription } from '../../../shared/domain/account-change.ts';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { LogSubscriber } from '../../../shared/domain/log-subscriber.ts';
import { GATEWAY_CALLER, type RequestCost } from '../../../shared/domain/units.ts';
import { Deferred } from '../../../shared/runtime/deferred.ts';
import { repeat } from '../../../shared/runtime/repeat.ts';
import type { Figures } from '../../admin/worker-figures.ts';
import { Cache, type CacheOptions } from '../../cache/cache.ts';
import type { EventQuery } from '../../http/events/event-log.ts';
import type { EventPage } from '../../http/events/event-page.ts';
import type { CallScope } from '../../routes/routing/request-scope.ts';
import type { PostAnswer } from '../../routes/routing/route.ts';
import type { CachedRead } from '../../serving/read-through.ts';
import { EventCodec } from '../codec.ts';
import type { RemoteStore } from '../counters/remote-store.ts';
import type { Event, EventOf } from '../events.ts';
import { AnswerFollower, type AnswerFollowerOptions } from '../replication/answer-follower.ts';
import { Connection } from '../rpc/connection.ts';
import type { AnswerRequest, ChargedCaller, PipelineMessage, Response, WorkerRequest } from '../rpc/messages.ts';
import { LogReader } from '../transport/shared-log/log-reader.ts';
import { LOG_BYTES } from '../transport/shared-log/log-writer.ts';
import { SOCKET_NAME } from './pipeline-end.ts';
import { RemoteMesh } from './remote-mesh.ts';
import { createTurnWatch } from './turn-watch.ts';

export interface WorkerEndOptions extends Pick<AnswerFollowerOptions, 'clock' | 'onLiveAnswer' | 'onUnagreedDropped'> {
  readonly id: number;
  readonly folder: string;
  readonly cache: CacheOptions;
  readonly counterStore: RemoteStore;
  readonly waitMs: number;
  readonly onReceiptKeys: () => void;
  /** Called when this worker was overtaken by the log: what it has is of no use any more. */
  readonly onOvertaken: () => void;
}

type PipelineConnection = Connection<WorkerRequest, PipelineMessage>;

type Settle = (response: Response) => void;

interface Subscription {
  readonly type: 'subscribe' | 'subscribe-logs';
  readonly address: string;
  readonly commitment: Commitment;
  readonly callers: readonly string[];
  readonly account?: AccountSubscriber;
  readonly logs?: LogSubscriber;
  areLogsReady: boolean;
}

const RETRY_MS = 20;
const TICK_MS = 250;
const MAX_PENDING = 10_000;
const MAX_HOT_KEYS_LENGTH = 1 << 16;

/** A copy of the pipeline's cache, and requests to it. While it is gone, the copy serves on, and requests wait. */
export class WorkerEnd {
  readonly cache: Cache;
  readonly answers: AnswerFollower;
  readonly mesh = new RemoteMesh();
  readonly #options: WorkerEndOptions;
  readonly #pending = new Map<number, { readonly message: WorkerRequest; readonly settle: Settle }>();
  /** What charges the cost of requests that nobody waits for any more, while the pipeline process works for them. */
  readonly #late = new Map<number, Settle>();
  readonly #subscriptions = new Map<number, Subscription>();
  readonly #stopTicking: () => void;
  #nextId = 1;
  #connection: PipelineConnection | undefined;
  /** The connection, once the pipeline process has let it join: all that is wanted before is sent then. */
  #pipeline: PipelineConnection | undefined;
  #reader: LogReader | undefined;
  #figures: WorkerRequest | undefined;
  #isClosed = false;
  #cancelRetry = (): void => {};
  readonly #joined = new Deferred();
  readonly #warm = new Deferred();
  readonly joined = this.#joined.promise;
  /** Resolves when the first answers are there besides, or are not waited for any longer: from then on callers may come. */
  readonly warm = this.#warm.promise;

  constructor(options: WorkerEndOptions) {
    const { clock } = options;
    this.#options = options;
    this.cache = new Cache({ ...options.cache, beforeRead: createTurnWatch(() => this.#catchUp(), clock) });
    this.answers = new AnswerFollower({
      cache: this.cache,
      clock,
      onTip: (tip) => this.#onTip(tip),
      onLiveAnswer: options.onLiveAnswer,
      onUnagreedDropped: options.onUnagreedDropped,
    });
    this.#stopTicking = repeat(clock, TICK_MS, () => this.cache.tick());
    this.#connect();
  }

  /** False while the pipeline process is gone. */
  get isJoined(): boolean {
    return this.#pipeline !== undefined;
  }

  async read(request: AnswerRequest, cost?: RequestCost): Promise<CachedRead> {
    const awaited = this.answers.await(request.key);
    try {
      const messageOf = (id: number): WorkerRequest => ({ type: 'read', id, ...request, ...callerOf(cost) });
      const { answer, at, cacheStatus } = await this.#request('answer', messageOf, cost);
      const item = awaited.keep(answer, at);
      if (item.kind === 'refusal') throw item.refusal;
      if (item.kind === 'slot-mark') throw new GatewayError('stale', 'another worker has served a newer answer; retry');
      return { entry: item, cacheStatus };
    } finally {
      awaited.end();
    }
  }

  async answerRpc(body: Buffer, scope: CallScope, cost: RequestCost): Promise<PostAnswer> {
    const request = (id: number): WorkerRequest => ({ type: 'call', id, body, ...scope, ...callerOf(cost) });
    return (await this.#request('call-result', request, cost)).answer;
  }

  async readEvents(query: EventQuery): Promise<EventPage | undefined> {
    return (await this.#request('event-page', (id): WorkerRequest => ({ type: 'events', id, query }))).page;
  }

  subscribe(wanted: Omit<Subscription, 'callers' | 'areLogsReady'>, caller: string): AccountSubscription {
    const id = this.#nextId++;
    const callers = [caller];
    const subscription: Subscription = { ...wanted, callers, areLogsReady: false };
    this.#subscriptions.set(id, subscription);
    if (this.#pipeline !== undefined) this.#sendSubscription(this.#pipeline, id, subscription);
    return {
      addCaller: (other) => {
        callers.push(other);
        this.#pipeline?.send({ type: 'add-caller', id, caller: other });
      },
      removeCaller: (other) => {
        if (!callers.includes(other)) return;
        callers.splice(callers.indexOf(other), 1);
        this.#pipeline?.send({ type: 'remove-caller', id, caller: other });
      },
      end: () => {
        if (this.#subscriptions.delete(id)) this.#pipeline?.send({ type: 'unsubscribe', id });
      },
    };
  }

  /** Reports what this worker counts. From then on it counts as one that serves the port. */
  reportFigures(figures: Figures, problems: readonly string[]): void {
    this.#figures = { type: 'figures', figures, problems };
    this.#pipeline?.send(this.#figures);
  }

  close(): void {
    this.#isClosed = true;
    this.#stopTicking();
    this.#cancelRetry();
    this.#connection?.close();
    this.#reader?.close();
    this.#reader = undefined;
  }

  #sendSubscription(connection: PipelineConnection, id: number, subscription: Subscription): void {
    const { type, address, commitment, callers } = subscription;
    const [caller = GATEWAY_CALLER, ...others] = callers;
    connection.send({ type, id, address, commitment, caller });
    for (const other of others) connection.send({ type: 'add-caller', id, caller: other });
  }

  #request<T extends Response['type']>(type: T, messageOf: (id: number) => WorkerRequest, cost?: RequestCost) {
    return new Promise<ResponseOf<T>>((resolve, reject) => {
      if (this.#pending.size >= MAX_PENDING)
        throw new GatewayError('overloaded', 'too many requests wait for the cluster; retry in a moment');
      const id = this.#nextId++;
      const message = messageOf(id);
      const cancel = this.#options.clock.after(this.#options.waitMs, () => {
        this.#pending.delete(id);
        if (this.#pipeline !== undefined) this.#late.set(id, charge);
        reject(new GatewayError('upstream_unavailable', 'no answer of the cluster came in time'));
      });
      cost?.beginCall();
      const charge = ({ spent }: Response): void => {
        if (cost !== undefined) Object.assign(cost, spent);
        cost?.endCall();
      };
      const settle = (response: Response): void => {
        cancel();
        charge(response);
        if (isOfType(response, type)) resolve(response);
        else reject(response.type === 'failed' ? response.error : new Error(`got a response of type ${response.type}`));
      };
      this.#pending.set(id, { message, settle });
      this.#pipeline?.send(message);
    });
  }

  #connect(): void {
    const socket = connect(join(this.#options.folder, SOCKET_NAME));
    const connection = new Connection<WorkerRequest, PipelineMessage>(
      socket,
      (message) => this.#handle(connection, message),
      () => this.#onGone(),
    );
    this.#connection = connection;
    socket.on('connect', () => {
      const served = this.cache.newestSlots();
      connection.send({ type: 'hello', worker: this.#options.id, served, granted: this.answers.newestGranted });
    });
  }

  #onGone(): void {
    this.#connection = undefined;
    this.#pipeline = undefined;
    this.#options.counterStore.connect(undefined);
    this.#late.clear();
    if (this.#isClosed) return;
    this.#catchUp(); // what it logged before its end
    this.answers.lose();
    this.#reader?.close();
    this.#reader = undefined;
    this.#cancelRetry = this.#options.clock.after(RETRY_MS, () => this.#connect());
  }

  #handle(connection: PipelineConnection, message: PipelineMessage): void {
    this.#catchUp(); // with what the process logged before the message
    if (message.type === 'joined') this.#join(connection, message);
    else if (message.type === 'started') this.#warm.resolve();
    else if (message.type === 'account-changed')
      this.#subscriptions.get(message.id)?.account?.onChange({ slot: message.slot, isReorg: message.isReorg });
    else if (message.type === 'logs-ready') this.#onLogsReady(message.id);
    else if (message.type === 'logs')
      this.#subscriptions.get(message.id)?.logs?.onLogs(message.slot, message.transaction);
    else if (message.type === 'subscription-ended') this.#endSubscription(message.id, message.reason);
    else if (message.type === 'count') this.#options.counterStore.onMessage(message.message);
    else if ('spent' in message) this.#settle(connection, message);
    else if (message.type !== 'log-grew') message satisfies never; // of a pipeline process of another build
  }

  /** Settles a request, or sends it again where an operator was found to lie since: the response may be made of its values. */
  #settle(connection: PipelineConnection, response: Response): void {
    this.#late.get(response.id)?.(response);
    this.#late.delete(response.id);
    const pending = this.#pending.get(response.id);
    if (pending === undefined) return;
    if (this.answers.unagreedDroppedAt >= response.at) {
      connection.send(pending.message);
      return;
    }
    this.#pending.delete(response.id);
    pending.settle(response);
  }

  #join(
    connection: PipelineConnection,
    { path, from, snapshot, structures }: Extract<PipelineMessage, { readonly type: 'joined' }>,
  ): void {
    const codec = new EventCodec(structures);
    this.answers.follow(codec);
    const onFrame = (payload: Uint8Array, at: number): void => this.#onEvent(codec.decode(payload), at);
    this.#reader = new LogReader({ path, bytes: LOG_BYTES, from, onFrame });
    for (const event of snapshot) onFrame(event, from);
    this.#pipeline = connection;
    this.#options.counterStore.connect((reports) => connection.send({ type: 'report', reports }));
    this.#catchUp();
    if (this.#figures !== undefined) connection.send(this.#figures);
    for (const { message } of this.#pending.values()) connection.send(message);
    // Nobody has reported what has changed in between: accounts are read again, and of logs some may be missing.
    for (const [id, subscription] of [...this.#subscriptions]) {
      if (subscription.areLogsReady) this.#endSubscription(id, logsMissed());
      else this.#sendSubscription(connection, id, subscription);
      subscription.account?.onChange({ slot: 0, isReorg: false });
    }
    this.#joined.resolve();
  }

  #endSubscription(id: number, reason: GatewayError): void {
    const { account, logs } = this.#subscriptions.get(id) ?? {};
    this.#subscriptions.delete(id);
    (account ?? logs)?.onEnd(reason);
  }

  #onLogsReady(id: number): void {
    const subscription = this.#subscriptions.get(id);
    if (subscription === undefined) return;
    subscription.areLogsReady = true;
    subscription.logs?.onReady();
  }

  #catchUp(): void {
    if (this.#reader?.catchUp() === false) this.#options.onOvertaken();
  }

  #onEvent(event: Event, at: number): void {
    if (event.type === 'vitals-changed') this.mesh.update(event.vitals);
    else if (event.type === 'receipt-keys-changed') this.#options.onReceiptKeys();
    else this.answers.apply(event, at);
  }

  #onTip({ commitment, slot, parent }: EventOf<'tip-advanced'>): void {
    this.mesh.advance(commitment, slot, parent);
    if (commitment === 'processed') this.#reportHotKeys();
  }

  #reportHotKeys(): void {
    const keys: string[] = [];
    let length = 0;
    for (const key of this.cache.rotateHotKeys()) {
      length += key.length;
      if (length > MAX_HOT_KEYS_LENGTH) break;
      keys.push(key);
    }
    if (keys.length > 0) this.#pipeline?.send({ type: 'hot-keys', keys });
  }
}

const logsMissed = (): GatewayError =>
  new GatewayError('upstream_unavailable', 'transactions may be missing, as a process has ended: subscribe again');

const callerOf = ({ caller = GATEWAY_CALLER, hasPriority = false }: Partial<RequestCost> = {}): ChargedCaller => ({
  caller,
  hasPriority,
});

type ResponseOf<T extends Response['type']> = Extract<Response, { readonly type: T }>;

const isOfType = <T extends Response['type']>(response: Response, type: T): response is ResponseOf<T> =>
  response.type === type;
