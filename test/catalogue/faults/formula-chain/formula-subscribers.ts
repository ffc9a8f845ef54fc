import type { WebSocket } from 'ws';
import { COMMITMENTS, type Commitment } from '../../../../src/shared/domain/commitment.ts';
import type { Slot } from '../../../../src/shared/domain/slot.ts';
import { notificationJson, type RpcRequest, subscriptionId } from '../../../support/scripted-node.ts';

const OPEN = 1;

interface Subscriber {
  readonly socket: WebSocket;
  readonly id: string;
  readonly address: string;
  /** Newest slot that the subscriber was notified of. */
  notifiedSlot: Slot;
}

/** Subscriptions on all WebSockets of a node. */
export class FormulaSubscribers {
  readonly #accounts = new Map<Commitment, Set<Subscriber>>(COMMITMENTS.map((commitment) => [commitment, new Set()]));
  readonly #slots = new Set<Subscriber>();

  add(socket: WebSocket, call: RpcRequest, slotAt: (commitment: Commitment) => Slot): void {
    const id = subscriptionId(call);
    const [address, { commitment = 'finalized' } = {}] = call.params;
    const subscriber: Subscriber = { socket, id, address, notifiedSlot: slotAt(commitment) };
    const subscribers = call.method === 'slotSubscribe' ? this.#slots : this.#accounts.get(commitment);
    subscribers?.add(subscriber);
  }

  /** Removes a socket's subscription by its id. */
  remove(socket: WebSocket, id: string): void {
    for (const among of this.#accounts.values()) {
      for (const subscriber of among) {
        if (subscriber.socket === socket && subscriber.id === id) among.delete(subscriber);
      }
    }
  }

  notifySlot(result: string): void {
    this.#removeClosed();
    for (const { socket, id } of this.#slots) socket.send(notificationJson('slotSubscribe', id, result));
  }

  /** Sends each subscriber of a commitment the notification for its address; undefined sends nothing. */
  notifyAccounts(
    commitment: Commitment,
    slot: Slot,
    notificationFor: (address: string, notified: Slot) => string | undefined,
  ): void {
    for (const subscriber of this.#accounts.get(commitment) ?? []) {
      const result = notificationFor(subscriber.address, subscriber.notifiedSlot);
      if (result === undefined) continue;
      subscriber.notifiedSlot = slot;
      subscriber.socket.send(notificationJson('accountSubscribe', subscriber.id, result));
    }
  }

  #removeClosed(): void {
    for (const among of [this.#slots, ...this.#accounts.values()]) {
      for (const subscriber of among) if (subscriber.socket.readyState !== OPEN) among.delete(subscriber);
    }
  }
}
