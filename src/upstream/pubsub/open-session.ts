import { COMMITMENTS, type Commitment } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { RpcMethod } from '../../domain/rpc-methods.ts';
import type { Slot } from '../../domain/slot.ts';
import { members, parseSafeInteger } from '../json/raw-json.ts';
import { commitmentOf } from '../rpc/response-slot.ts';
import type { CallOptions, RpcResponse } from '../rpc/rpc-response.ts';
import type { NodeOptions, UpstreamDeps } from '../upstream-options.ts';
import { type ChannelSubscription, PubsubChannel } from './pubsub-channel.ts';
import type { ClockUpdate, PubsubSession } from './pubsub-session.ts';
import { SlotAncestry } from './slot-ancestry.ts';
import { clockSubscription, parseSlotNotification, SLOT_SUBSCRIPTION } from './slot-subscriptions.ts';

export interface SessionOptions {
  readonly node: NodeOptions;
  readonly deps: UpstreamDeps;
  /** Asked before anything is subscribed. A rejection ends the connection. */
  verifyGenesis(): Promise<unknown>;
  /** Asked about each new slot that comes: one that is not believed ends the connection. */
  acceptsSlot(commitment: Commitment, slot: Slot): boolean;
  call(method: RpcMethod, params: readonly unknown[], options: CallOptions): Promise<RpcResponse>;
}

/** Opens a line to a node; resolves when its beacons are on the way. Throws `upstream_unavailable`. */
export function openSession({ node, deps, verifyGenesis, acceptsSlot, call }: SessionOptions): Promise<PubsubSession> {
  const { clock, settings } = deps;
  const lastUpdates = new Map<Commitment, ClockUpdate>();
  const listeners = new Map(COMMITMENTS.map((commitment) => [commitment, new Set<(update: ClockUpdate) => void>()]));
  const onLost = new Set<(reason: string) => void>();
  const acceptedSlots = new Map<Commitment, Slot>();
  /** When a beacon last came. */
  let lastUpdateMs = 0;
  let cancelWatchdog = (): void => {};
  let usedSubscriptions = COMMITMENTS.length + 1; // the beacons, and which slot was built on which
  const ancestry = new SlotAncestry();
  let lostReason: string | undefined;

  return new Promise((resolve, reject) => {
    const channel = new PubsubChannel({
      node,
      settings,
      clock,
      onOpen: () => {
        verifyGenesis().then(subscribeToClock, () => channel.close('was not admitted'));
      },
      onAcknowledged: () => {},
      onClose: (reason) => {
        lostReason = reason;
        cancelWatchdog();
        reject(new GatewayError('upstream_unavailable', 'no node can be reached', { cause: `${node.id}: ${reason}` }));
        for (const listener of onLost) listener(reason);
      },
    });

    const session: PubsubSession = {
      nodeId: node.id,
      isPooled: node.pooled ?? false,
      get capacity() {
        return lostReason === undefined ? settings.subscriptions - usedSubscriptions : 0;
      },
      get isLost() {
        return lostReason !== undefined;
      },
      subscribe(method, params, handler) {
        if (session.capacity === 0) throw new GatewayError('overloaded', 'the connection takes no more subscriptions');
        let isActive = true;
        const commitment = commitmentOf(params) ?? 'finalized';
        const unsubscribe = () => {
          if (isActive) usedSubscriptions--;
          isActive = false;
          channel.unsubscribe(subscription);
        };
        const subscription: ChannelSubscription = {
          method,
          params,
          onNotification: (result) => {
            const [slot, value] = valueAt(result);
            if (isActive && accept(commitment, slot)) handler.onNotification(slot, value);
          },
          onAcknowledged: () => handler.onAcknowledged(),
          onRejected: () => {
            if (!isActive) return;
            unsubscribe();
            handler.onRejected();
          },
        };
        usedSubscriptions++;
        channel.subscribe(subscription);
        return unsubscribe;
      },
      onClockUpdate(commitment, listener) {
        listeners.get(commitment)?.add(listener);
        return () => listeners.get(commitment)?.delete(listener);
      },
      onLost(listener) {
        if (lostReason === undefined) onLost.add(listener);
        else listener(lostReason);
        return () => onLost.delete(listener);
      },
      isOnAnotherFork: (slot, tip) => ancestry.isOnAnotherFork(slot, tip),
      call: (method, params = [], options = {}) => call(method, params, options),
      close: () => channel.close('is no longer needed'),
    };

    const subscribeToClock = () => {
      if (lostReason !== undefined) return;
      let unacknowledged = COMMITMENTS.length;
      lastUpdateMs = clock.monotonic();
      armWatchdog();
      for (const commitment of COMMITMENTS) {
        channel.subscribe({
          ...clockSubscription(commitment),
          onNotification: (result) => onClock(commitment, valueAt(result)[0]),
          onAcknowledged: () => {
            if (--unacknowledged === 0) resolve(session);
          },
          onRejected: () => channel.close('refuses the clock'),
        });
      }
      channel.subscribe({
        ...SLOT_SUBSCRIPTION,
        onNotification(result) {
          const { slot, parent } = parseSlotNotification(result);
          ancestry.record(slot, parent);
        },
        onRejected: () => {}, // forks are then seen by slots that go back alone
      });
    };

    const accept = (commitment: Commitment, slot: Slot): boolean => {
      if (acceptedSlots.get(commitment) === slot) return true;
      if (acceptsSlot(commitment, slot)) {
        acceptedSlots.set(commitment, slot);
        return true;
      }
      channel.close('told of slots that are not believed');
      return false;
    };

    /** Without beacons nothing can be claimed, however much else comes. */
    const armWatchdog = () => {
      cancelWatchdog = clock.after(lastUpdateMs + settings.silenceMs - clock.monotonic(), () => {
        if (clock.monotonic() - lastUpdateMs < settings.silenceMs) armWatchdog();
        else channel.close('has lost its beacons');
      });
    };

    const onClock = (commitment: Commitment, slot: Slot) => {
      lastUpdateMs = clock.monotonic();
      const latest = lastUpdates.get(commitment)?.slot;
      if (slot === latest || !accept(commitment, slot)) return;
      if (latest !== undefined && slot < latest && commitment !== 'processed') {
        channel.close('took back what it had confirmed');
        return;
      }
      const update = { slot, previous: latest };
      lastUpdates.set(commitment, update);
      for (const listener of listeners.get(commitment) ?? []) listener(update);
    };
  });
}

/** A notification of an account or a program: `{context: {slot}, value}`. */
function valueAt(result: Buffer): [slot: Slot, value: Buffer] {
  const parts = members(result);
  const [context, value] = [parts.get('context'), parts.get('value')];
  if (context === undefined || value === undefined) throw new GatewayError('upstream_error', 'no context came');
  return [parseSafeInteger(members(context).get('slot')), value];
}
