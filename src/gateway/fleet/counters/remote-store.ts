import type {
  CountAnswer,
  CounterConnection,
  CounterListener,
  CounterStore,
  CountReport,
  CountTotal,
} from '../../access/quota/counter-store.ts';

export interface CounterRequest {
  readonly id: number;
  readonly reports: readonly CountReport[];
}

/** What the pipeline process sends to a worker about its counters; no answers if the store is lost. */
export type CounterMessage = Readonly<
  | { type: 'reported'; id: number; answers: readonly (CountAnswer | undefined)[] | undefined; members: number }
  | { type: 'total'; total: CountTotal }
  | { type: 'stale'; id: string | undefined }
>;

type Answers = readonly (CountAnswer | undefined)[];

/** The store of the pipeline process, as the one member of a worker sees it. While that is gone, reports are rejected. */
export class RemoteStore implements CounterStore, CounterConnection {
  /** Assumed until the store sends the number. */
  members: number;
  #listener: CounterListener | undefined;
  #send: ((request: CounterRequest) => void) | undefined;
  #nextId = 1;
  readonly #pending = new Map<number, (answers: Answers | undefined) => void>();

  constructor(members: number) {
    this.members = members;
  }

  join(_member: string, listener: CounterListener): CounterConnection {
    this.#listener = listener;
    return this;
  }

  leave(): void {} // the connection ends

  connect(send: ((request: CounterRequest) => void) | undefined): void {
    this.#send = send;
    for (const settle of this.#pending.values()) settle(undefined);
    this.#pending.clear();
    if (send !== undefined) this.#listener?.onStale();
  }

  onMessage(message: CounterMessage): void {
    if (message.type === 'total') this.#listener?.onTotal(message.total);
    else if (message.type === 'stale') this.#listener?.onStale(message.id);
    else {
      this.members = message.members;
      this.#pending.get(message.id)?.(message.answers);
      this.#pending.delete(message.id);
    }
  }

  readonly report: CounterConnection['report'] = (reports) =>
    new Promise((resolve, reject) => {
      const settle = (answers: Answers | undefined): void =>
        answers === undefined ? reject(new Error('the store is lost')) : resolve(answers);
      if (this.#send === undefined) return settle(undefined);
      const id = this.#nextId++;
      this.#pending.set(id, settle);
      this.#send({ id, reports });
    });
}
