import type { AdminSources } from '../admin/admin-sources.ts';
import type { Environment } from './environment.ts';
import type { Answers } from './open-answers.ts';
import type { OpenServer } from './open-server.ts';
import type { State } from './open-state.ts';

export function adminSourcesOf(
  { config, warnings, vitals, failedReloads }: Environment,
  { access }: State,
  guard: AdminSources['guard'],
  { context, liveAccounts, tokenLists, ring }: Answers,
  { server, sealer, frameDelays }: OpenServer,
): AdminSources {
  const live = { liveAccounts: liveAccounts.liveSet, tokenLists: tokenLists.liveSet, ring };
  return { config, context, vitals, server, access, sealer, guard, ...live, frameDelays, warnings, failedReloads };
}
