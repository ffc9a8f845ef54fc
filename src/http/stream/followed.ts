import type { AccountChange } from '../../domain/account-change.ts';
import type { Clock } from '../../domain/clock.ts';
import type { GatewayError } from '../../domain/gateway-error.ts';
import { SLOT_MS, type Slot } from '../../domain/slot.ts';
import type { Topic } from '../../routes/topics.ts';
import type { Watching } from '../../routing/route.ts';
import type { Answers } from '../../serving/answers.ts';
import type { Sealer } from '../../serving/seal.ts';

/** An answer as it is pushed: its body is the one that REST gives at the same slot. */
export interface Push {
  readonly slot: Slot;
  readonly result: string;
  readonly body: string | Buffer;
  readonly isReorg: boolean;
}

export interface FollowedOptions {
  readonly topic: Topic;
  readonly answers: Answers;
  readonly sealer: Sealer;
  readonly watch: Watching;
  readonly clock: Clock;
  /** Called with each answer that differs from the one before. */
  readonly onPush: (push: Push) => void;
  /** Called when no more can be told. */
  readonly onEnd: (reason: GatewayError) => void;
}

/** One topic, followed for all who subscribe to it: news comes in, sealed answers go out. */
export class Followed {
  readonly #options: FollowedOptions;
  readonly #stop: () => void;
  #owed: AccountChange | undefined;
  #isWorking = false;
  #latest: Push | undefined;
  #cancelRetry = (): void => {};
  #isClosed = false;

  /** Throws when the account can't be followed. */
  constructor(options: FollowedOptions) {
    const { topic, watch, onEnd } = options;
    this.#options = options;
    this.#stop = watch.subscribe(topic.address, topic.commitment, {
      onChange: (news) => {
        const isReorg = news.isReorg || this.#owed?.isReorg === true;
        this.#owed = { slot: Math.max(news.slot, this.#owed?.slot ?? 0), isReorg };
        void this.#work();
      },
      onEnd,
    });
  }

  /** The newest answer, if one was pushed already. */
  get latest(): Push | undefined {
    return this.#latest;
  }

  /** The answer now. Rejects as a read of the route does. */
  async now(): Promise<Push> {
    return this.#take(await this.#answer(undefined, false));
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelRetry();
    this.#stop();
  }

  /** Answers what is owed, one after the other: of many changes only the newest counts. */
  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    this.#cancelRetry();
    for (let news = this.#owed; news !== undefined && !this.#isClosed; news = this.#owed) {
      this.#owed = undefined;
      try {
        this.#take(await this.#answer(news.slot, news.isReorg));
      } catch {
        this.#owed ??= news;
        this.#cancelRetry = this.#options.clock.after(SLOT_MS, () => void this.#work());
        break;
      }
    }
    this.#isWorking = false;
  }

  /** Keeps the newer of two answers, and tells of it when it says something else. */
  #take(push: Push): Push {
    const before = this.#latest;
    if (before !== undefined && push.slot <= before.slot) return before;
    this.#latest = push;
    if (before !== undefined && (push.result !== before.result || push.isReorg)) this.#options.onPush(push);
    return push;
  }

  async #answer(minSlot: Slot | undefined, isReorg: boolean): Promise<Push> {
    const { answers, sealer, topic } = this.#options;
    const question = { ...topic.question, minSlot };
    const { entry } = answers.lookUp(question) ?? (await answers.resolve(question));
    if (entry.refusal !== undefined) throw entry.refusal;
    const body = sealer.bodyOf(entry) ?? (await sealer.seal(entry));
    return { slot: entry.slot, result: entry.result, body, isReorg };
  }
}
