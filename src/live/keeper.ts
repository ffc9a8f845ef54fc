import type { Clock } from '../domain/clock.ts';
import { COMMITMENTS, type Commitment } from '../domain/commitment.ts';
import type { Proof } from '../domain/proof.ts';
import type { Slot } from '../domain/slot.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import type { ArmingRule } from './arming.ts';
import type { LineOptions } from './claims.ts';
import { Heat } from './heat.ts';
import { type Carrier, Lines, type Passenger } from './lines.ts';
import { Roster } from './roster.ts';

/** Something that is kept live for as long as it is read. */
interface Watched extends Passenger {
  readonly held: Proof | undefined;
  /** The tip at its last reader. */
  readonly touchedAt: Slot;
  /** The tip at which it was found that it can't be kept live; undefined while it may be. */
  readonly barredAt: Slot | undefined;
}

/** The part of a watch's settings that has nothing to do with what it watches. */
export interface WatchSettings {
  /** What nobody has read for so long is watched no more; what can't be kept live is tried again. */
  readonly idleSlots: number;
  /** How often all that is kept live is read again and compared. */
  readonly auditMs: number;
}

/** What any watch needs. */
export interface WatchOptions<S extends WatchSettings> {
  readonly mesh: Pick<Mesh, 'openSession' | 'tip' | 'onTip'>;
  readonly clock: Clock;
  readonly settings: S;
  /** When silence may be taken for "unchanged". */
  readonly rule?: ArmingRule;
  /** Called when claims have moved on. */
  readonly onMoved?: () => void;
  readonly onProblem?: (problem: string, facts: object) => void;
}

/** A connection that things are kept live over. */
interface Watching<T> extends Carrier<T> {
  /** The cluster has moved on: is this node still with it? */
  compare(commitment: Commitment): void;
  /** Reads again all that is kept live, and compares. Resolves to how many were compared. */
  audit(): Promise<number>;
}

/** What the owner of a watch sees of it: figures, the audit, and its end. */
export interface Keeping {
  /** How many things are watched, or are about to be. */
  readonly size: number;
  /** How many claims were found to be false. It must be 0. */
  readonly falseClaims: number;
  /** How many were read again and compared. */
  readonly audited: number;
  /** How many connections were lost. */
  readonly lostLines: number;
  /** Reads all that is kept live again, and compares. Called now and then; a test may call it. */
  audit(): Promise<void>;
  close(): void;
}

export interface KeeperOptions<T, L> extends Omit<WatchOptions<WatchSettings>, 'rule'> {
  /** How many things are watched at a time. */
  readonly most: number;
  watchOver(options: LineOptions<T>): L;
  /** True of what is to be watched though nobody reads it. */
  isFollowed?(watched: T): boolean;
  /** Names a thing, for the log. */
  describe(watched: T): object;
}

/** Chooses what is kept live, finds connections for it, and has it audited: the same for accounts and for lists. */
export class Keeper<T extends Watched, L extends Watching<T>> implements Keeping {
  readonly #options: KeeperOptions<T, L>;
  readonly #heat: Heat;
  readonly #roster: Roster<T>;
  readonly #lines: Lines<T, L>;
  readonly #stops: (() => void)[];
  #cancelAudit = (): void => {};
  #isClosed = false;
  #falseClaims = 0;
  #audited = 0;
  #lost = 0;

  constructor(options: KeeperOptions<T, L>) {
    const { mesh, clock, most, isFollowed } = options;
    const { idleSlots } = options.settings;
    this.#options = options;
    this.#heat = new Heat(most);
    this.#roster = new Roster({
      most,
      isIdle: (watched) => {
        const { barredAt, touchedAt } = watched;
        if (barredAt !== undefined && this.tip - barredAt > idleSlots) return true;
        return this.tip - touchedAt > idleSlots && !isFollowed?.(watched);
      },
      dropped: (watched) => this.#lines.remove(watched),
    });
    this.#lines = new Lines(
      () => mesh.openSession(),
      (line) => {
        const over: L = options.watchOver({
          line,
          clock,
          tip: (commitment) => mesh.tip(commitment),
          onMoved: () => options.onMoved?.(),
          onFalseClaim: (watched, slots) => this.#alarm(watched, { node: line.nodeId, ...slots }),
          onLost: (watched, reason) => this.#lose(over, watched, { node: line.nodeId, reason }),
        });
        return over;
      },
    );
    const advance = (commitment: Commitment) => (): void => {
      for (const line of [...this.#lines.all]) line.compare(commitment);
      if (commitment === 'processed') this.#roster.sweep(Math.ceil(this.size / idleSlots));
    };
    this.#stops = COMMITMENTS.map((commitment) => mesh.onTip(commitment, advance(commitment)));
    this.#auditLater();
  }

  get size(): number {
    return this.#roster.size;
  }

  get falseClaims(): number {
    return this.#falseClaims;
  }

  get audited(): number {
    return this.#audited;
  }

  get lostLines(): number {
    return this.#lost;
  }

  /** The newest slot of the cluster. */
  get tip(): Slot {
    return this.#options.mesh.tip('processed') ?? 0;
  }

  get(name: string): T | undefined {
    return this.#roster.get(name);
  }

  /** Notes that somebody reads what is not watched. When it has become hot, it is from now on. */
  admit(name: string, make: () => T): T | undefined {
    if (this.#options.most === 0) return undefined;
    return this.#heat.see(name, this.tip) ? this.add(name, make) : undefined;
  }

  /** Watches something, unless there is too much already. */
  add(name: string, make: () => T): T | undefined {
    if (this.#isClosed) return undefined;
    const watched = this.#roster.add(name, make);
    if (watched !== undefined) this.#lines.add(watched);
    return watched;
  }

  /** Looks for another connection: the one it is on has no room for it. */
  move(watched: T): void {
    this.#lines.remove(watched);
    this.#lines.add(watched);
  }

  async audit(): Promise<void> {
    for (const line of [...this.#lines.all]) this.#audited += await line.audit();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelAudit();
    for (const stop of this.#stops) stop();
  }

  #alarm(watched: T, evidence: object): void {
    this.#falseClaims++;
    const facts = { ...this.#options.describe(watched), ...evidence };
    this.#options.onProblem?.('a claimed slot was false: all that came with it is dropped', facts);
  }

  #lose(line: L, watched: Iterable<T>, facts: object): void {
    this.#lost++;
    if (this.#isClosed) return;
    this.#options.onProblem?.('a connection that accounts are watched over was lost', facts);
    this.#lines.lose(line, watched);
  }

  #auditLater(): void {
    const { clock, settings } = this.#options;
    this.#cancelAudit = clock.after(settings.auditMs, () => {
      void this.audit().finally(() => {
        if (!this.#isClosed) this.#auditLater();
      });
    });
  }
}
