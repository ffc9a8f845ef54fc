import type { WebSocket } from 'ws';
import { COMMITMENTS, type Commitment } from '../../../../src/domain/commitment.ts';
import type { Slot } from '../../../../src/domain/slot.ts';
import { notification, type RpcRequest, subscriptionId } from '../../../support/scripted-node.ts';

const OPEN = 1;

interface Subscriber {
  readonly socket: WebSocket;
  readonly id: string;
  readonly address: string;
  /** Up to which slot it was told. */
  told: Slot;
}

/** Who wants to be told of what, on all WebSockets of a node. */
export class Subscribers {
  readonly #accounts = new Map<Commitment, Set<Subscriber>>(COMMITMENTS.map((commitment) => [commitment, new Set()]));
  readonly #slots = new Set<Subscriber>();

  get accounts(): number {
    return [...this.#accounts.values()].reduce((sum, { size }) => sum + size, 0);
  }

  add(socket: WebSocket, asked: RpcRequest, reached: (commitment: Commitment) => Slot): void {
    const id = subscriptionId(asked);
    const [address, { commitment = 'finalized' } = {}] = asked.params;
    const subscriber: Subscriber = { socket, id, address, told: reached(commitment) };
    const among = asked.method === 'slotSubscribe' ? this.#slots : this.#accounts.get(commitment);
    among?.add(subscriber);
  }

  /** Ends the subscription on this socket whose number this is. */
  remove(socket: WebSocket, id: string): void {
    for (const among of this.#accounts.values()) {
      for (const subscriber of among) {
        if (subscriber.socket === socket && subscriber.id === id) among.delete(subscriber);
      }
    }
  }

  tellSlot(result: string): void {
    this.#forgetGone();
    for (const { socket, id } of this.#slots) socket.send(notification('slotSubscribe', id, result));
  }

  /** Tells each what `news` makes of its address, told last at a slot; undefined is no news. */
  tellAccounts(commitment: Commitment, slot: Slot, news: (address: string, told: Slot) => string | undefined): void {
    for (const subscriber of this.#accounts.get(commitment) ?? []) {
      const result = news(subscriber.address, subscriber.told);
      if (result === undefined) continue;
      subscriber.told = slot;
      subscriber.socket.send(notification('accountSubscribe', subscriber.id, result));
    }
  }

  #forgetGone(): void {
    for (const among of [this.#slots, ...this.#accounts.values()]) {
      for (const subscriber of among) if (subscriber.socket.readyState !== OPEN) among.delete(subscriber);
    }
  }
}
