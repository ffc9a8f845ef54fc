import type { QuotaAsk, QuotaLedger, QuotaShare, QuotaState } from '../../access/quota/quota-ledger.ts';
import type { Wire } from './wire.ts';

/** An ask, a share or a state as messages have it: fields in the order of their list. */
type PackedFields = readonly unknown[];

/** The quota ledger of the pipeline process, as a worker sees it. While that process is gone, no ask is settled. */
export class RemoteQuotaLedger implements QuotaLedger {
  members: number;
  #wire: Wire | undefined;
  #hear: (left: QuotaState) => void = () => {};
  #nextId = 1;
  readonly #pending = new Map<number, { resolve(shares: readonly QuotaShare[]): void; reject(reason: Error): void }>();

  /** Takes as many members as there are until the ledger tells it. */
  constructor(members: number) {
    this.members = members;
  }

  settle(asks: readonly QuotaAsk[]): Promise<readonly QuotaShare[]> {
    const wire = this.#wire;
    if (wire === undefined) return Promise.reject(new Error('the pipeline process is gone'));
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      wire.send('settle', id, asks.map(packAsk));
    });
  }

  onLeft(hear: (left: QuotaState) => void): () => void {
    this.#hear = hear;
    return () => {
      this.#hear = () => {};
    };
  }

  /** Asks over a connection from now on; undefined while there is none. */
  connect(wire: Wire | undefined): void {
    this.#wire = wire;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(new Error('the pipeline process ended'));
  }

  onSettled([id, shares, members]: [number, readonly PackedFields[], number]): void {
    this.members = members;
    this.#pending.get(id)?.resolve(shares.map(unpackShare));
    this.#pending.delete(id);
  }

  onLeftTold([left]: [PackedFields]): void {
    this.#hear(unpackState(left));
  }
}

const packAsk = (ask: QuotaAsk): PackedFields => {
  const { id, limit, windowMs, window, ageMs, used, want, need } = ask;
  return [id, limit, windowMs, window, ageMs, used, want, need];
};

export function unpackAsk(fields: PackedFields): QuotaAsk {
  const [id, limit, windowMs, window, ageMs, used, want, need] = fields as [string, ...Numbers<7>];
  return { id, limit, windowMs, window, ageMs, used, want, need };
}

export const packState = (told: QuotaState): PackedFields => {
  const { id, limit, windowMs, window, endsInMs, reset, changes, left } = told;
  return [id, limit, windowMs, window, endsInMs, reset, changes, left];
};

function unpackState(fields: PackedFields): QuotaState {
  const [id, limit, windowMs, window, endsInMs, reset, changes, left] = fields as [string, ...Numbers<7>];
  return { id, limit, windowMs, window, endsInMs, reset, changes, left };
}

export const packShare = (told: QuotaShare): PackedFields => [...packState(told), told.share, told.held, told.isOver];

function unpackShare(fields: PackedFields): QuotaShare {
  const [share, held, isOver] = fields.slice(STATE_FIELDS) as [number, number, boolean];
  return { ...unpackState(fields), share, held, isOver };
}

const STATE_FIELDS = 8;

type Numbers<N extends number, All extends number[] = []> = All['length'] extends N
  ? All
  : Numbers<N, [...All, number]>;
