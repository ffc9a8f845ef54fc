import { fork } from 'node:child_process';
import type { Config } from '../../config/config-schema.ts';
import type { ConfigSources } from '../../config/load-config.ts';
import type { Reread } from './reread-config.ts';

export interface RereadRequest {
  readonly sources: ConfigSources;
  readonly inUse: Config;
  /** What the gateway was started with. */
  readonly started: Config;
  readonly isAdminPortChosen: boolean;
}

export interface RereadSettings {
  readonly config: Config;
  /** The settings that a reload applies. */
  readonly next: Config;
  /** The names of those that have changed, and that it does not apply. */
  readonly kept: readonly string[];
}

export type RereadReply = Reread<RereadSettings>;

/**
 * Has a process read the settings again, by the module `reread-main.js` that is on disk: a version that was installed since the
 * start has its own settings, which this process does not know.
 */
export function rereadOnDisk(module: URL, request: RereadRequest): Promise<RereadReply> {
  const child = fork(module, [], { serialization: 'advanced', stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  return new Promise((resolve) => {
    child.once('message', resolve);
    child.once('error', ({ message: problem }) => resolve({ problem }));
    child.once('disconnect', () => resolve({ problem: 'the process that was to read it has ended' }));
    child.send(request, () => {}); // one that is gone disconnects
  });
}
