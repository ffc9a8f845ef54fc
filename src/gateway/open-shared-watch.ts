import { SharedWatch } from '../fleet/shared-watch.ts';
import type { Upstream } from '../wiring/open-upstream.ts';
import type { Environment, GatewayOptions } from './environment.ts';
import type { Answers } from './open-answers.ts';

/** Opens this gateway's part in the watch of its fleet; it is alone until it takes part over a feed. */
export function openSharedWatch(
  { clock, log, disposals }: Environment,
  { joinWatch }: Pick<GatewayOptions, 'joinWatch'>,
  { mesh }: Pick<Upstream, 'mesh'>,
  { liveAccounts, tokenLists, onLeasesAdvanced }: Answers,
): SharedWatch {
  const watch = new SharedWatch({
    clock,
    mesh,
    accounts: liveAccounts,
    lists: tokenLists,
    onLeasesAdvanced,
    onRole: (role) => log.info({ role }, 'the part of this gateway in the watch of the fleet'),
  });
  disposals.defer(() => watch.close());
  joinWatch?.(watch);
  return watch;
}
