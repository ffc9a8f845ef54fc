import type { AdminListener } from '../admin/admin-listener.ts';
import { openAdmin } from '../admin/open-admin.ts';
import type { WorkerFigures } from '../admin/worker-figures.ts';
import type { Environment } from './environment.ts';
import type { Answers } from './open-answers.ts';
import type { OpenServer } from './open-server.ts';
import type { Signing } from './open-signing.ts';
import type { State } from './open-state.ts';

/** Opens the listener for operators. */
export function openAdminListener(
  { config, log, warnings, vitals }: Environment,
  { access }: State,
  { guard }: Pick<Signing, 'guard'>,
  { context, liveAccounts, tokenLists }: Answers,
  { server, sealer, frameDelays }: OpenServer,
  isPortChosen: boolean,
  workers?: WorkerFigures,
): Promise<AdminListener | undefined> {
  const live = { liveAccounts: liveAccounts.stats, tokenLists: tokenLists.stats };
  return openAdmin({
    sources: { config, context, vitals, server, access, sealer, guard, ...live, frameDelays, warnings, workers },
    isPortChosen,
    onWarning: (message) => log.warn({}, message),
    onDefect: (path, err) => log.error({ path, err }, 'the listener for operators met a defect'),
  });
}
