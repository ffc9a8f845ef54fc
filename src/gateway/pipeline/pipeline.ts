import { connectable, distinctUntilChanged, merge, Observable, Subject, scan } from 'rxjs';
import { COMMITMENTS, type Commitment } from '../../shared/domain/commitment.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import { attempt } from './attempt.ts';
import { interval$, type NetworkFramesOptions, networkFrames$ } from './network-frames.ts';
import { WarmReads, type WarmReadsOptions } from './warm-reads.ts';

export interface PipelineOptions extends WarmReadsOptions, NetworkFramesOptions {
  readonly liveSources: readonly { onTip(commitment: Commitment): void }[];
  readonly rings: readonly { advance(slot: Slot, finalizedSlot: Slot): void }[];
  readonly equivocationGuard: { advance(finalizedSlot: Slot): void };
}

export interface Pipeline {
  close(): void;
}

const CACHE_TICK_MS = 250;

export function startPipeline(options: PipelineOptions): Pipeline {
  const { mesh, cache, clock, liveSources, rings, equivocationGuard } = options;
  const slot$ = connectable(
    newest$(tip$(mesh, 'processed')).pipe(attempt('tip', (slot) => cache.advanceTip(slot), options)),
    { connector: () => new Subject() },
  );
  const warmReads = new WarmReads(slot$, options);

  const slotConsumers = [
    // At each commitment: live sessions that lag are closed, and what nobody reads is evicted.
    ...liveSources.flatMap((source, i) =>
      COMMITMENTS.map((commitment) =>
        tip$(mesh, commitment).pipe(
          attempt(`live source ${i} at ${commitment}`, () => source.onTip(commitment), options),
        ),
      ),
    ),
    // At finalized: receipts of newer slots may be `exact`, and versions that are too old are dropped.
    tip$(mesh, 'finalized').pipe(attempt('equivocation guard', (slot) => equivocationGuard.advance(slot), options)),
    ...rings.map((ring, i) =>
      tip$(mesh, 'finalized').pipe(
        attempt(`ring ${i}`, (slot) => ring.advance(mesh.tip('confirmed') ?? slot, slot), options),
      ),
    ),
    // The cache's tip advances, parts of the network's state that are due are read, `/slot` and a frame are published.
    networkFrames$(slot$, warmReads, options),
    // Entries that were read during the last slot are refreshed before somebody has to wait for them.
    slot$.pipe(attempt('hot entries', () => cache.refreshHot(mesh.slotTimeMs), options)),
    // Without slots, too: time passes for the cache.
    interval$(clock, CACHE_TICK_MS).pipe(attempt('cache', () => cache.tick(), options)),
  ];
  const subscription = merge(...slotConsumers).subscribe();
  subscription.add(slot$.connect()); // after all have subscribed, as there may be a slot already

  return { close: () => subscription.unsubscribe() };
}

const tip$ = (mesh: Mesh, commitment: Commitment): Observable<Slot> =>
  new Observable((out) => {
    const tip = mesh.tip(commitment);
    if (tip !== undefined) out.next(tip);
    return mesh.onTip(commitment, (slot) => out.next(slot));
  });

/** Leaves out slots that are not newer than those before. */
const newest$ = (source$: Observable<Slot>): Observable<Slot> =>
  source$.pipe(
    scan((newest, slot) => Math.max(newest, slot), 0),
    distinctUntilChanged(),
  );
