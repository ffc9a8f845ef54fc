import type { AdminListener } from '../admin/admin-listener.ts';
import type { AdminSources } from '../admin/admin-sources.ts';
import { openAdmin } from '../admin/open-admin.ts';
import type { Environment } from './environment.ts';
import type { Answers } from './open-answers.ts';
import type { OpenServer } from './open-server.ts';
import type { Signing } from './open-signing.ts';
import type { State } from './open-state.ts';

/** Opens the listener for operators. */
export function openAdminListener(
  env: Environment,
  state: State,
  { guard }: Pick<Signing, 'guard'>,
  answers: Answers,
  server: OpenServer,
  isPortChosen: boolean,
  ofFleet: Pick<AdminSources, 'workers' | 'watch' | 'feed'>,
): Promise<AdminListener | undefined> {
  const { log } = env;
  return openAdmin({
    sources: { ...adminSourcesOf(env, state, guard, answers, server), ...ofFleet },
    isPortChosen,
    onWarning: (message) => log.warn({}, message),
    onDefect: (path, err) => log.error({ path, err }, 'the listener for operators met a defect'),
  });
}

/** Returns what operators are told of a process. */
export function adminSourcesOf(
  { config, warnings, vitals, failedReloads }: Environment,
  { access }: State,
  guard: AdminSources['guard'],
  { context, liveAccounts, tokenLists }: Answers,
  { server, sealer, frameDelays }: OpenServer,
): AdminSources {
  const live = { liveAccounts: liveAccounts.stats, tokenLists: tokenLists.stats };
  return { config, context, vitals, server, access, sealer, guard, ...live, frameDelays, warnings, failedReloads };
}
