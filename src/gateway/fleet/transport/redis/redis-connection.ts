import { createHash } from 'node:crypto';
import type { createClient } from '@redis/client';
import type { RedisSettings } from '../../../../config/redis-settings.ts';
import type { Clock } from '../../../../shared/domain/clock.ts';
import { quotedInSentence } from '../../../../shared/domain/quoted-name.ts';
import { reasonOf } from '../../../../shared/domain/reason-of.ts';
import { StartError } from '../../../../shared/domain/start-error.ts';
import { sleep } from '../../../../shared/runtime/sleep.ts';

/** A Lua script, which Redis runs as one step. */
export interface Script {
  readonly lua: string;
  readonly sha: string;
}

export const scriptOf = (lua: string): Script => ({ lua, sha: createHash('sha1').update(lua).digest('hex') });

const MAX_QUOTED_CHARACTERS = 200;

/** Returns with which words Redis has refused a command; undefined if it has not answered. */
export function refusalIn(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !/^[A-Z]{2,} /.test(thrown.message)) return undefined;
  return `Redis refuses: ${quotedInSentence(thrown.message.replace(/ script: .*/, ''), MAX_QUOTED_CHARACTERS)}`;
}

/** Returns why a command has failed: with the words of Redis, where it has answered. */
export const redisReasonOf = (thrown: unknown): string => refusalIn(thrown) ?? reasonOf(thrown);

export interface RedisConnectionOptions extends RedisSettings {
  readonly clock: Clock;
  readonly random: () => number;
  /** Called each time that Redis can be called, also after an outage. */
  readonly onReady: () => void;
  /** Called when messages may have been lost: none arrives until the connection is made again. */
  readonly onDeaf?: (() => void) | undefined;
}

/** The time after which an answer counts as lost, in milliseconds. */
const DEADLINE_MS = 250;

/** The most calls that wait for answers: Redis may stand still. */
const MAX_CALLS = 100;

/** The most bytes of messages that Redis has not accepted yet. */
const MAX_WAITING_BYTES = 64 << 20;

/** The time without an answer in time after which Redis counts as gone. */
const LATE_MS = 1000;
const CONNECT_MS = 2000;
const PING_MS = 500;
const SILENCE_MS = 1500;
const MAX_RECONNECT_MS = 500;

/** Time between two checks of a connection that is waited for, in milliseconds. */
const READY_CHECK_MS = 20;
const LISTEN_AGAIN_MS = 500;

/** A connection to Redis, made again whenever it is lost. Without one, calls fail without a wait. */
export class RedisConnection {
  readonly #clock: Clock;
  readonly #client: ReturnType<typeof createClient>;
  /** A connection of its own, since one that listens can do nothing else. */
  readonly #listener: ReturnType<typeof createClient>;
  readonly #subscribers = new Map<string, (message: Buffer) => void>();
  /** Why no message of a channel arrives here although Redis answers. */
  listenProblem: string | undefined;
  #waitingBytes = 0;
  #lastProblem: string | undefined;
  /** The monotonic time of the first of the calls in a row that were not answered in time. */
  #lateSinceMs: number | undefined;

  /** Begins to connect. Rejects with a StartError if the client isn't installed. */
  static async open(options: RedisConnectionOptions): Promise<RedisConnection> {
    const { createClient } = await import('@redis/client').catch((cause: unknown) => {
      throw new StartError(78, 'redis.url needs the package @redis/client: npm install @redis/client@6.3.1', cause);
    });
    return new RedisConnection(createClient, options);
  }

  private constructor(
    create: typeof createClient,
    { url, password, ca, clock, random, onReady, onDeaf = () => {} }: RedisConnectionOptions,
  ) {
    this.#clock = clock;
    const options = {
      url,
      RESP: 2 as const,
      ...(password !== undefined && { password }),
      disableOfflineQueue: true,
      commandsQueueMaxLength: MAX_CALLS,
      pingInterval: PING_MS,
      socket: {
        connectTimeout: CONNECT_MS,
        socketTimeout: SILENCE_MS,
        reconnectStrategy: (retries: number) => Math.min(50 * 2 ** retries, MAX_RECONNECT_MS) * (0.5 + random()),
        ...(ca !== undefined && { tls: true as const, ca }),
      },
    };
    this.#client = create(options);
    this.#listener = create(options);
    this.#client.on('error', (err: unknown) => {
      this.#lastProblem = err instanceof Error ? err.message || err.name : String(err);
    });
    this.#client.on('ready', () => {
      this.#lastProblem = undefined;
      onReady();
    });
    this.#listener.on('error', (err: unknown) => {
      this.listenProblem = refusalIn(err); // else the other connection has the reason
      onDeaf();
    });
    this.#listener.on('reconnecting', onDeaf);
    this.#listener.on('ready', () => {
      for (const [channel, onMessage] of this.#subscribers) this.#listen(channel, onMessage);
    });
    for (const client of [this.#client, this.#listener]) client.connect().catch(() => {}); // it is tried again
  }

  get isReady(): boolean {
    return this.#client.isReady;
  }

  /** Whether Redis has answered in time lately: one that is connected may stand still, or be far away. */
  get isAnswering(): boolean {
    return this.isReady && this.#clock.monotonic() - (this.#lateSinceMs ?? this.#clock.monotonic()) < LATE_MS;
  }

  get isListening(): boolean {
    return this.#listener.isReady;
  }

  get problem(): string {
    return this.#lastProblem ?? 'it does not answer';
  }

  async waitUntilReady(ms: number, isVain: () => boolean = () => false): Promise<void> {
    const deadlineMs = this.#clock.monotonic() + ms;
    while (!this.isReady && this.#clock.monotonic() < deadlineMs && !isVain()) await sleep(this.#clock, READY_CHECK_MS);
  }

  /** Runs a script. Rejects if its answer doesn't come in time; it may have run all the same. */
  async run({ lua, sha }: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const rest = [String(keys.length), ...keys, ...args.map(String)];
    return this.call('EVALSHA', sha, ...rest).catch((thrown: unknown) => {
      if (thrown instanceof Error && thrown.message.startsWith('NOSCRIPT')) return this.call('EVAL', lua, ...rest);
      throw thrown;
    });
  }

  /** Runs a command. Rejects if its answer doesn't come in time. */
  async call(...command: string[]): Promise<unknown> {
    const done = new AbortController();
    const late = sleep(this.#clock, DEADLINE_MS, done.signal).then(
      () => {
        this.#lateSinceMs ??= this.#clock.monotonic();
        return Promise.reject(new Error(`Redis has not answered ${command[0]} within ${DEADLINE_MS} ms`));
      },
      () => undefined,
    );
    try {
      const answer = await Promise.race([this.#client.sendCommand(command), late]);
      this.#lateSinceMs = undefined;
      return answer;
    } catch (thrown) {
      if (refusalIn(thrown) !== undefined) this.#lateSinceMs = undefined;
      throw thrown;
    } finally {
      done.abort();
    }
  }

  /** Resolves to false if the message may not have been sent: Redis can't be called, or reads too slowly. */
  async publish(channel: string, message: Buffer): Promise<boolean> {
    if (!this.isReady || this.#waitingBytes + message.length > MAX_WAITING_BYTES) return false;
    this.#waitingBytes += message.length;
    try {
      await this.#client.sendCommand(['PUBLISH', channel, message]);
      return true;
    } catch {
      return false;
    } finally {
      this.#waitingBytes -= message.length;
    }
  }

  /** Calls `onMessage` with each message on a channel, which has one subscriber. Those during an outage are lost. */
  subscribe(channel: string, onMessage: (message: Buffer) => void): () => void {
    this.#subscribers.set(channel, onMessage);
    if (this.#listener.isReady) this.#listen(channel, onMessage);
    return () => {
      this.#subscribers.delete(channel);
      if (this.#listener.isReady) this.#listener.unsubscribe(channel).catch(() => {}); // it ends with the connection
    };
  }

  close(): void {
    this.#client.destroy();
    this.#listener.destroy();
  }

  #listen(channel: string, onMessage: (message: Buffer) => void): void {
    const onListening = (): void => {
      this.listenProblem = undefined;
    };
    const onFailed = (thrown: unknown): void => {
      this.listenProblem = refusalIn(thrown);
      // again with the next connection, or soon if this one goes on
      this.#clock.after(LISTEN_AGAIN_MS, () => {
        if (this.#listener.isReady && this.#subscribers.get(channel) === onMessage) this.#listen(channel, onMessage);
      });
    };
    this.#listener.subscribe(channel, onMessage, true).then(onListening).catch(onFailed);
  }
}
