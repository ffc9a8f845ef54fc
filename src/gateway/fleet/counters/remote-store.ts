import type {
  CountAnswer,
  CounterConnection,
  CounterListener,
  CounterStore,
  CountReport,
  CountTotal,
} from '../../access/quota/counter-store.ts';

type Answers = readonly (CountAnswer | undefined)[];

/** What the pipeline process sends to a worker about its counters; no answers if the store is lost. */
export type CounterMessage = Readonly<
  | { type: 'reported'; answers: Answers | undefined; members: number }
  | { type: 'total'; total: CountTotal }
  | { type: 'stale'; id: string | undefined }
>;

type SendReports = (reports: readonly CountReport[]) => void;

/** The store of the pipeline process, as the one member of a worker sees it. While that is gone, reports are rejected. */
export class RemoteStore implements CounterStore, CounterConnection {
  /** Assumed until the store sends the number. */
  #members: number;
  #listener: CounterListener | undefined;
  #send: SendReports | undefined;
  /** Those that settle the reports under way: they are answered in their order. */
  #pending: ((answers: Answers | undefined) => void)[] = [];

  constructor(members: number) {
    this.#members = members;
  }

  readonly members = (): number => this.#members;

  join(_member: string, listener: CounterListener): CounterConnection {
    this.#listener = listener;
    return this;
  }

  leave(): void {} // the connection ends

  connect(send: SendReports | undefined): void {
    this.#send = send;
    for (const settle of this.#pending.splice(0)) settle(undefined);
    if (send !== undefined) this.#listener?.onStale();
  }

  onMessage(message: CounterMessage): void {
    if (message.type === 'total') this.#listener?.onTotal(message.total);
    else if (message.type === 'stale') this.#listener?.onStale(message.id);
    else {
      this.#members = message.members;
      this.#pending.shift()?.(message.answers);
    }
  }

  readonly report: CounterConnection['report'] = (reports) =>
    new Promise((resolve, reject) => {
      const settle = (answers: Answers | undefined): void =>
        answers === undefined ? reject(new Error('the store is lost')) : resolve(answers);
      if (this.#send === undefined) return settle(undefined);
      this.#pending.push(settle);
      this.#send(reports);
    });
}
