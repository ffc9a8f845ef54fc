import type { Clock } from '../../domain/clock.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Identity } from './identity.ts';
import type { Tier } from './tier.ts';

export interface AdmissionOptions {
  /** How much work may be with the upstream at one time. */
  readonly inFlight: number;
  /** How much more may wait. */
  readonly queue: number;
  /** For how long at most. */
  readonly waitMs: number;
  readonly clock: Clock;
  /** True while the process has so much to do that nothing may be added. */
  readonly isLate: () => boolean;
}

/** What one identity has under way, and in the line. */
interface Load {
  readonly identity: Identity;
  running: number;
  waiting: number;
}

/** One who stands in the line. */
interface Waiting {
  readonly load: Load;
  /** How much its identity may have under way. */
  readonly most: number;
  readonly go: () => void;
  readonly giveUp: (why: string) => void;
}

/**
 * Stands before all work that needs the upstream, so that neither one caller nor many can pile it up: each has so much
 * under way, all together so much. As much again waits in a line in which `priority` goes first; the rest is
 * `overloaded`.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #loads = new Map<Identity, Load>();
  readonly #first = new Set<Waiting>(); // a Set keeps its order and forgets from the middle
  readonly #rest = new Set<Waiting>();
  #running = 0;
  #refused = 0;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#first.size + this.#rest.size;
  }

  /** How many were turned away. */
  get refused(): number {
    return this.#refused;
  }

  /** Starts the work, at once where nobody is in front. Rejects with `overloaded` where it can't be taken. */
  async run<T>(identity: Identity, tier: Tier, work: () => Promise<T>): Promise<T> {
    if (this.#options.isLate()) throw this.#refusal('the gateway has too much to do');
    const load = this.#loads.get(identity) ?? { identity, running: 0, waiting: 0 };
    if (this.#running < this.#options.inFlight && load.running < tier.inFlight) this.#enter(load);
    else await this.#turn(load, tier);
    try {
      return await work();
    } finally {
      this.#leave(load);
    }
  }

  #enter(load: Load): void {
    this.#running++;
    load.running++;
    this.#loads.set(load.identity, load);
  }

  /** The place goes to the next at once, so that nobody can slip in between. */
  #leave(load: Load): void {
    this.#running--;
    load.running--;
    this.#next()?.go();
    this.#forget(load);
  }

  /** Resolves when it has entered. */
  #turn(load: Load, { inFlight, priority }: Tier): Promise<void> {
    const { queue, waitMs, clock } = this.#options;
    if (load.waiting >= inFlight) throw this.#refusal('too many of your requests are under way');
    if (this.waiting >= queue) {
      const last = priority ? [...this.#rest].at(-1) : undefined;
      if (last === undefined) throw this.#refusal('too many requests are waiting');
      last.giveUp('others who go first are waiting');
    }
    const line = priority ? this.#first : this.#rest;
    return new Promise((resolve, reject) => {
      const stepOut = (): void => {
        line.delete(waiting);
        load.waiting--;
        cancel();
      };
      const waiting: Waiting = {
        load,
        most: inFlight,
        go: () => {
          stepOut();
          this.#enter(load);
          resolve();
        },
        giveUp: (why) => {
          stepOut();
          this.#forget(load);
          reject(this.#refusal(why));
        },
      };
      const cancel = clock.after(waitMs, () => waiting.giveUp('the request waited too long'));
      line.add(waiting);
      load.waiting++;
      this.#loads.set(load.identity, load);
    });
  }

  /** The first whose identity may have more under way; the others wait for work of their own. */
  #next(): Waiting | undefined {
    for (const line of [this.#first, this.#rest]) {
      for (const waiting of line) if (waiting.load.running < waiting.most) return waiting;
    }
    return undefined;
  }

  #forget({ identity, running, waiting }: Load): void {
    if (running === 0 && waiting === 0) this.#loads.delete(identity);
  }

  #refusal(message: string): GatewayError {
    this.#refused++;
    return new GatewayError('overloaded', message);
  }
}
