import { COMMITMENTS, type Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import type { ClockUpdate, PubsubSession, PubsubSubscription } from '../../upstream/pubsub/pubsub-session.ts';
import type { LiveSessionOptions } from '../session-audit.ts';
import type { PooledSession } from '../session-pool.ts';
import type { LogTopic } from './log-topic.ts';
import { historyCommitmentOf, readMissedLogs } from './read-missed-logs.ts';

export interface LogSessionOptions extends Pick<LiveSessionOptions<LogTopic>, 'pubsub' | 'budget' | 'tip' | 'onRoom'> {
  /** Called with the topics of a session that is lost. */
  onLost(topics: readonly LogTopic[]): void;
  /** Called with a topic for which the node has no room. */
  onRefused(topic: LogTopic): void;
  onFailed(topic: LogTopic, reason: GatewayError): void;
}

/** A topic that catches up with what was missed before its node accepted. */
interface CatchUp {
  /** The slot of the first Clock update since: all later transactions are notified. Undefined until then. */
  untilSlot: Slot | undefined;
  isReading: boolean;
}

export class LogSession implements PooledSession<LogTopic> {
  readonly connection: PubsubSession;
  readonly syncing = 0;
  readonly #options: LogSessionOptions;
  readonly #topics = new Map<LogTopic, PubsubSubscription>();
  readonly #catchingUp = new Map<LogTopic, CatchUp>();
  readonly #clocks = new Map<Commitment, ClockUpdate>();

  constructor(options: LogSessionOptions) {
    const { pubsub, onRoom, onLost } = options;
    this.#options = options;
    this.connection = pubsub;
    pubsub.onAnswered(onRoom);
    for (const commitment of COMMITMENTS)
      pubsub.onClockUpdate(commitment, (update) => this.#onClockUpdate(commitment, update));
    pubsub.onLost(() => {
      const topics = [...this.#topics.keys()];
      for (const topic of topics) topic.onLost(this.#coveredSlot(topic));
      this.#topics.clear();
      this.#catchingUp.clear();
      onLost(topics);
    });
  }

  get size(): number {
    return this.#topics.size;
  }

  add(topic: LogTopic): void {
    const { onRefused, onFailed } = this.#options;
    const params = [{ mentions: [topic.address] }, { commitment: topic.commitment }];
    const subscription = this.connection.subscribe('logsSubscribe', params, {
      onAcknowledged: () => this.#onAcknowledged(topic),
      onNotification: (slot, value) => {
        const failure = topic.onNotification(slot, value, this.#coveredSlot(topic));
        if (failure !== undefined) onFailed(topic, failure);
      },
      onRefused: () => onRefused(topic),
      onRejected: () => onFailed(topic, new GatewayError('upstream_error', 'the node rejects logsSubscribe')),
    });
    this.#topics.set(topic, subscription);
  }

  remove(topic: LogTopic): void {
    this.#topics.get(topic)?.stop();
    this.#topics.delete(topic);
    this.#catchingUp.delete(topic);
  }

  /** Returns the slot up to which a topic was notified of all. */
  #coveredSlot({ commitment }: LogTopic): Slot {
    return this.#clocks.get(commitment)?.previous ?? -1;
  }

  #onAcknowledged(topic: LogTopic): void {
    const { commitment, isBehind, isReady } = topic;
    if (isBehind) this.#catchingUp.set(topic, { untilSlot: undefined, isReading: false });
    else if (!isReady) topic.start(this.#clocks.get(commitment)?.slot ?? this.#options.tip(commitment) ?? -1);
  }

  #onClockUpdate(commitment: Commitment, update: ClockUpdate): void {
    this.#clocks.set(commitment, update);
    for (const [topic, catchUp] of this.#catchingUp) {
      const { untilSlot } = catchUp;
      if (untilSlot === undefined) {
        if (commitment === topic.commitment) catchUp.untilSlot = update.slot;
      } else if (commitment === historyCommitmentOf(topic.commitment) && (update.previous ?? -1) >= untilSlot)
        void this.#read(topic, catchUp, update.slot); // a slot later, as a node stores histories after it notifies
    }
  }

  /** Reads what a topic has missed; what fails is tried again with the next Clock update. */
  async #read(topic: LogTopic, catchUp: CatchUp, minSlot: Slot): Promise<void> {
    if (catchUp.isReading) return;
    catchUp.isReading = true;
    try {
      const missed = await readMissedLogs(this.connection, this.#options.budget, topic, minSlot);
      if (this.#catchingUp.get(topic) !== catchUp) return; // lost or removed since
      this.#catchingUp.delete(topic);
      if (missed instanceof GatewayError) this.#options.onFailed(topic, missed);
      else topic.catchUp(missed);
    } catch {
      catchUp.isReading = false;
    }
  }
}
