import { loadConfig } from '../../config/load-config.ts';
import { changedSettings, rereadConfig, withFixedSettings } from './reread-config.ts';
import type { RereadReply, RereadRequest } from './reread-on-disk.ts';

function answer({ sources, inUse, started, isAdminPortChosen }: RereadRequest): RereadReply {
  const reread = rereadConfig(inUse, () => {
    const config = loadConfig(sources);
    return { config, next: withFixedSettings(config, started, isAdminPortChosen) };
  });
  if ('problem' in reread) return reread;
  const unapplied = changedSettings(reread.config, reread.next);
  return { ...reread, kept: reread.changed.filter((name) => unapplied.includes(name)) };
}

process.once('message', (request: RereadRequest) => {
  process.send?.(answer(request), () => process.disconnect());
});
