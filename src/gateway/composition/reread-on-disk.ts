import { fork } from 'node:child_process';
import type { Config } from '../../config/config-schema.ts';
import type { ConfigSources } from '../../config/load-config.ts';
import { reasonOf } from '../../shared/domain/reason-of.ts';
import type { Reread } from './reread-config.ts';

export interface RereadRequest {
  readonly sources: ConfigSources;
  readonly inUse: Config;
  readonly started: Config;
  readonly isAdminPortChosen: boolean;
}

export interface RereadSettings {
  readonly config: Config;
  readonly next: Config;
  /** The names of those that have changed, and that it does not apply. */
  readonly kept: readonly string[];
}

export type RereadReply = Reread<RereadSettings>;

/** The longest time in which the settings are read, in milliseconds: a file system may not answer. */
const REREAD_MS = 30_000;

/**
 * Has a process read the settings again, by the module `reread-main.js` that is on disk: a version that was installed since the
 * start has its own settings, which this process does not know.
 */
export async function rereadOnDisk(module: URL, request: RereadRequest): Promise<RereadReply> {
  try {
    const child = fork(module, [], {
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      timeout: REREAD_MS,
      killSignal: 'SIGKILL',
    });
    return await new Promise((resolve) => {
      child.once('message', resolve);
      child.on('error', ({ message: problem }) => resolve({ problem }));
      child.once('disconnect', () => resolve({ problem: 'the process that was to read it has ended' }));
      if (child.connected) child.send(request, () => {}); // one that is gone disconnects; one that did not start has an error
    });
  } catch (thrown) {
    return { problem: reasonOf(thrown) }; // the system has no place for a process
  }
}
