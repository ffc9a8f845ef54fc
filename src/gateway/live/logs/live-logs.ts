import type { Config } from '../../../config/config-schema.ts';
import type { AccountSubscription } from '../../../shared/domain/account-change.ts';
import type { Clock } from '../../../shared/domain/clock.ts';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { LogSubscriber } from '../../../shared/domain/log-subscriber.ts';
import type { Mesh } from '../../upstream/mesh/mesh.ts';
import type { PubsubSession } from '../../upstream/pubsub/pubsub-session.ts';
import type { RequestBudgets } from '../request-budget.ts';
import { SessionPool } from '../session-pool.ts';
import { LogSession } from './log-session.ts';
import { LogTopic } from './log-topic.ts';

export interface LiveLogsOptions {
  readonly mesh: Pick<Mesh, 'openSession' | 'tip'>;
  readonly clock: Clock;
  readonly budgets: RequestBudgets;
  readonly settings: Pick<Config['live'], 'logs' | 'callerShare'>;
}

export interface LogSource {
  /** Throws `overloaded` when the caller can have no place. */
  subscribe(address: string, commitment: Commitment, subscriber: LogSubscriber, caller: string): AccountSubscription;
}

/**
 * The transactions that mention addresses: one subscription of a node for each address and commitment, whatever the number of
 * subscribers. They have sessions of their own, so that an address with very many transactions holds up no account.
 */
export class LiveLogs implements LogSource {
  readonly #options: LiveLogsOptions;
  readonly #topics = new Map<string, LogTopic>();
  readonly #sessions: SessionPool<LogTopic, LogSession>;

  constructor(options: LiveLogsOptions) {
    const { mesh, clock, settings } = options;
    this.#options = options;
    this.#sessions = new SessionPool({
      clock,
      maxSubscriptions: settings.logs,
      rankOf: () => 0,
      open: async () => {
        const pubsub = await mesh.openSession();
        return () => (pubsub.isLost ? undefined : this.#createSession(pubsub));
      },
    });
  }

  subscribe(address: string, commitment: Commitment, subscriber: LogSubscriber, caller: string): AccountSubscription {
    const key = `${address} ${commitment}`;
    const topic = this.#topics.get(key) ?? this.#create(key, address, commitment, caller);
    const subscription = { subscriber, callers: [caller] };
    topic.subscriptions.add(subscription);
    if (topic.isReady) subscriber.onReady();
    return {
      addCaller: (other) => void subscription.callers.push(other),
      removeCaller: (other) => void subscription.callers.splice(subscription.callers.indexOf(other), 1),
      end: () => {
        if (topic.subscriptions.delete(subscription) && topic.subscriptions.size === 0) this.#remove(topic);
      },
    };
  }

  close(): void {
    this.#sessions.close();
    this.#sessions.closeAll();
  }

  #createSession(pubsub: PubsubSession): LogSession {
    const { budgets, mesh } = this.#options;
    const session: LogSession = new LogSession({
      pubsub,
      budget: budgets.of(pubsub),
      tip: (commitment) => mesh.tip(commitment),
      onRoom: () => this.#sessions.assignWaiting(),
      onLost: (topics) => this.#sessions.dropSession(session, topics),
      onRefused: (topic) => {
        session.remove(topic);
        this.#sessions.add(topic);
      },
      onFailed: (topic, reason) => this.#end(topic, reason),
    });
    return session;
  }

  #create(key: string, address: string, commitment: Commitment, caller: string): LogTopic {
    const { logs, callerShare } = this.#options.settings;
    if (this.#topics.size >= logs || this.#countOf(caller) >= Math.max(1, Math.floor(logs * callerShare)))
      throw new GatewayError('overloaded', 'no place is left for the logs of another address: unsubscribe from some');
    const topic = new LogTopic(address, commitment);
    this.#topics.set(key, topic);
    this.#sessions.add(topic);
    return topic;
  }

  #countOf(caller: string): number {
    let count = 0;
    for (const { subscriptions } of this.#topics.values())
      if ([...subscriptions].some(({ callers }) => callers.includes(caller))) count++;
    return count;
  }

  #end(topic: LogTopic, reason: GatewayError): void {
    const subscriptions = [...topic.subscriptions];
    topic.subscriptions.clear();
    this.#remove(topic);
    for (const { subscriber } of subscriptions) subscriber.onEnd(reason);
  }

  #remove(topic: LogTopic): void {
    this.#topics.delete(`${topic.address} ${topic.commitment}`);
    this.#sessions.remove(topic);
  }
}
