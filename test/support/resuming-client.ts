import { parsePushFrame, stateBeforeIn } from '../../src/client/verify/push-frame.ts';
import { createVerifier, EventChain } from '../../src/client/verify/verify-receipt.ts';
import { type EventStreamReader, openEventStream, type ServerSentEvent } from './event-stream.ts';

/** One change that a client has received. */
export interface ReceivedChange {
  readonly slot: number;
  readonly lamports: bigint;
}

/** The gateway that a client trusts. */
export interface TrustedGateway {
  readonly url: string;
  readonly publicKey: string;
  readonly cluster: string;
}

/** A client of Server-Sent Events of balances: it reconnects with the last id that it has, and verifies all that it gets. */
export class ResumingClient {
  /** The changes by their ids. */
  readonly changes = new Map<string, ReceivedChange>();
  readonly gaps: unknown[] = [];
  doubled = 0;
  /** Ids that were lower than one before. */
  reordered = 0;
  lastId = '';
  /** What the gateway said at the end of the last stream. */
  endText: string | undefined;
  readonly #addresses: readonly string[];
  readonly #chains: readonly EventChain[];
  readonly #verify = createVerifier();
  #gateway: TrustedGateway | undefined;
  #stream: EventStreamReader | undefined;
  #handled = 0;
  #newest = -1;
  /** The last balance of each account. */
  readonly #last: number[] = [];

  constructor(addresses: readonly string[]) {
    this.#addresses = addresses;
    this.#chains = addresses.map(() => new EventChain());
  }

  /** The query of its stream. */
  get query(): string {
    return `topics=${this.#addresses.map((address) => `balance:${address}`).join()}`;
  }

  /** Whether the gateway has ended its stream. */
  get hasEnded(): boolean {
    return this.#stream?.hasEnded === true;
  }

  get isOpen(): boolean {
    return this.#stream !== undefined;
  }

  /** The slot up to which it has all changes; -1 before the first. */
  get slot(): number {
    return this.lastId === '' ? -1 : Number(this.lastId.split('.')[0]);
  }

  /** Resolves with the status of the answer. */
  async connect(gateway: TrustedGateway): Promise<number> {
    const headers = this.lastId === '' ? {} : { 'last-event-id': this.lastId };
    this.#gateway = gateway;
    this.#handled = 0;
    this.#stream = await openEventStream(`${gateway.url}/api/v1/stream?${this.query}`, headers);
    return this.#stream.status;
  }

  /** Handles what has come, at most a number of events. Throws a ReceiptError for what does not follow what was before. */
  handle(most = Number.POSITIVE_INFINITY): void {
    const { events = [] } = this.#stream ?? {};
    for (let left = most; left > 0 && this.#handled < events.length; left--) {
      const event = events[this.#handled++];
      if (event !== undefined) this.#onEvent(event);
    }
  }

  /** Ends the connection; what has come and was not handled is lost. */
  cut(): void {
    this.#stream?.close();
    this.#stream = undefined;
  }

  #onEvent({ id, event, data }: ServerSentEvent): void {
    this.lastId = id ?? this.lastId;
    if (event === 'end') this.endText = data;
    if ((event !== 'change' && event !== 'snapshot') || this.#gateway === undefined) return;
    const { metadata = '', answer = '' } = parsePushFrame(data) ?? {};
    const { address, gap } = JSON.parse(metadata) as { address: string; gap?: object | null };
    const { publicKey, cluster } = this.#gateway;
    const request = `SUB /api/v1/balance/${address}`;
    const { receipt, result, slot } = this.#verify(answer, { publicKeys: [publicKey], cluster, request });
    this.#chains[this.#addresses.indexOf(address)]?.add(receipt, stateBeforeIn(metadata));
    const index = this.#addresses.indexOf(address);
    const { lamports } = JSON.parse(result) as { lamports: number };
    const isKnown = this.#last[index] === undefined || this.#last[index] === lamports;
    this.#last[index] = lamports;
    if (event === 'snapshot' && gap !== null) this.gaps.push(gap);
    // A state is news where the gateway does not know what was before: it was restarted, and reads what its feed sends again.
    if (event === 'snapshot' && (gap !== null || isKnown)) return;
    const key = `${slot}.${index}`;
    if (event === 'change' && key !== id) throw new Error(`${id} is at slot ${slot}`);
    if (this.changes.has(key)) this.doubled++;
    if (slot < this.#newest) this.reordered++;
    this.#newest = slot;
    this.changes.set(key, { slot, lamports: BigInt(lamports) });
  }
}
