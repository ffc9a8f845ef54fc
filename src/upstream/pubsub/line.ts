import { COMMITMENTS, type Commitment } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/error.ts';
import type { Read } from '../../domain/read-method.ts';
import type { Slot } from '../../domain/slot.ts';
import { members, safeInteger } from '../json/raw-json.ts';
import type { NodeOptions, Surroundings } from '../options.ts';
import type { CallOptions, Reading } from '../rpc/call.ts';
import { commitmentOf } from '../rpc/reading.ts';
import { Ancestry } from './ancestry.ts';
import { clockSubscription, SLOT_SUBSCRIPTION, slotBegun } from './beacon.ts';
import { Connection, type Subscription } from './connection.ts';
import type { Beacon, Line } from './ordered-line.ts';

export interface LineOptions {
  readonly node: NodeOptions;
  readonly surroundings: Surroundings;
  /** Asked before anything is subscribed. A rejection ends the connection. */
  admit(): Promise<unknown>;
  /** Asked about each new slot that comes: one that is not believed ends the connection. */
  believes(commitment: Commitment, slot: Slot): boolean;
  call(method: Read, params: readonly unknown[], options: CallOptions): Promise<Reading>;
}

/** Opens a line to a node; resolves when its beacons are on the way. Throws `upstream_unavailable`. */
export function openLine({ node, surroundings, admit, believes, call }: LineOptions): Promise<Line> {
  const { clock, settings } = surroundings;
  const beacons = new Map<Commitment, Beacon>();
  const listeners = new Map(COMMITMENTS.map((commitment) => [commitment, new Set<(beacon: Beacon) => void>()]));
  const onLost = new Set<(reason: string) => void>();
  const believed = new Map<Commitment, Slot>();
  /** When a beacon last came. */
  let heardMs = 0;
  let stopWatch = (): void => {};
  let taken = COMMITMENTS.length + 1; // the beacons, and which slot was built on which
  const ancestry = new Ancestry();
  let lost: string | undefined;

  return new Promise((resolve, reject) => {
    const connection = new Connection({
      node,
      settings,
      clock,
      opened: () => {
        admit().then(follow, () => connection.end('was not admitted'));
      },
      acknowledged: () => {},
      ended: (reason) => {
        lost = reason;
        stopWatch();
        reject(new GatewayError('upstream_unavailable', 'no node can be reached', { cause: `${node.id}: ${reason}` }));
        for (const listener of onLost) listener(reason);
      },
    });

    const line: Line = {
      nodeId: node.id,
      pooled: node.pooled ?? false,
      get room() {
        return lost === undefined ? settings.subscriptions - taken : 0;
      },
      get lost() {
        return lost !== undefined;
      },
      subscribe(method, params, watcher) {
        if (line.room === 0) throw new GatewayError('overloaded', 'the connection takes no more subscriptions');
        let live = true;
        const commitment = commitmentOf(params) ?? 'finalized';
        const stop = () => {
          if (live) taken--;
          live = false;
          connection.unsubscribe(subscription);
        };
        const subscription: Subscription = {
          method,
          params,
          notify: (result) => {
            const [slot, value] = valueAt(result);
            if (live && credible(commitment, slot)) watcher.notify(slot, value);
          },
          acknowledged: () => watcher.acknowledged(),
          refused: () => {
            if (!live) return;
            stop();
            watcher.refused();
          },
        };
        taken++;
        connection.subscribe(subscription);
        return stop;
      },
      onBeacon(commitment, listener) {
        listeners.get(commitment)?.add(listener);
        return () => listeners.get(commitment)?.delete(listener);
      },
      onLost(listener) {
        if (lost === undefined) onLost.add(listener);
        else listener(lost);
        return () => onLost.delete(listener);
      },
      excludes: (slot, tip) => ancestry.excludes(slot, tip),
      call: (method, params = [], options = {}) => call(method, params, options),
      close: () => connection.end('is no longer needed'),
    };

    const follow = () => {
      if (lost !== undefined) return;
      let waiting = COMMITMENTS.length;
      heardMs = clock.monotonic();
      watch();
      for (const commitment of COMMITMENTS) {
        connection.subscribe({
          ...clockSubscription(commitment),
          notify: (result) => beat(commitment, valueAt(result)[0]),
          acknowledged: () => {
            if (--waiting === 0) resolve(line);
          },
          refused: () => connection.end('refuses the clock'),
        });
      }
      connection.subscribe({
        ...SLOT_SUBSCRIPTION,
        notify(result) {
          const { slot, parent } = slotBegun(result);
          ancestry.note(slot, parent);
        },
        refused: () => {}, // forks are then seen by slots that go back alone
      });
    };

    const credible = (commitment: Commitment, slot: Slot): boolean => {
      if (believed.get(commitment) === slot) return true;
      if (believes(commitment, slot)) {
        believed.set(commitment, slot);
        return true;
      }
      connection.end('told of slots that are not believed');
      return false;
    };

    /** Without beacons nothing can be claimed, however much else comes. */
    const watch = () => {
      stopWatch = clock.after(heardMs + settings.silenceMs - clock.monotonic(), () => {
        if (clock.monotonic() - heardMs < settings.silenceMs) watch();
        else connection.end('has lost its beacons');
      });
    };

    const beat = (commitment: Commitment, slot: Slot) => {
      heardMs = clock.monotonic();
      const latest = beacons.get(commitment)?.slot;
      if (slot === latest || !credible(commitment, slot)) return;
      if (latest !== undefined && slot < latest && commitment !== 'processed') {
        connection.end('took back what it had confirmed');
        return;
      }
      const beacon = { slot, previous: latest };
      beacons.set(commitment, beacon);
      for (const listener of listeners.get(commitment) ?? []) listener(beacon);
    };
  });
}

/** A notification of an account or a program: `{context: {slot}, value}`. */
function valueAt(result: Buffer): [slot: Slot, value: Buffer] {
  const parts = members(result);
  const [context, value] = [parts.get('context'), parts.get('value')];
  if (context === undefined || value === undefined) throw new GatewayError('upstream_error', 'no context came');
  return [safeInteger(members(context).get('slot')), value];
}
