import type { Surroundings } from '../options.ts';
import { unreachable } from '../rpc/rpc-errors.ts';
import { agreed } from './jump-guard.ts';
import type { Member } from './member.ts';

/** How a mesh begins. */
export interface Beginning {
  /** The genesis hash of its nodes. */
  readonly cluster: string;
  /** Whose slots are believed first. */
  readonly anchor: Member;
}

/**
 * Asks the nodes in order, again and again, until one is of our cluster, and gives the others a moment to be heard too:
 * where two of them agree on where the chain is, one that says otherwise doesn't begin. Throws `upstream_unavailable`.
 */
export async function begin(members: readonly Member[], { clock, settings }: Surroundings): Promise<Beginning> {
  const pause = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve));
  const end = clock.monotonic() + settings.startMs;
  for (let cause: unknown; ; ) {
    for (const first of members) {
      try {
        const cluster = await first.admit();
        const rest = members.filter((member) => member !== first);
        await Promise.race([Promise.allSettled(rest.map((member) => member.admit())), pause(settings.backoffMaxMs)]);
        return { cluster, anchor: furthestAgreed(members) ?? first };
      } catch (thrown) {
        cause = thrown;
      }
    }
    if (clock.monotonic() + settings.backoffMinMs > end) throw unreachable(cause);
    await pause(settings.backoffMinMs);
  }
}

/** The node that is furthest of those that have another near them. */
function furthestAgreed(members: readonly Member[]): Member | undefined {
  const slotOf = ({ trusted, node }: Member) => (trusted ? node.seen.latest('processed') : undefined);
  const furthest = agreed(members.flatMap((member) => slotOf(member) ?? []));
  return furthest === undefined ? undefined : members.find((member) => slotOf(member) === furthest);
}
