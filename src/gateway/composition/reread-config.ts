import { isDeepStrictEqual } from 'node:util';
import { mergeLayers, valueAt } from '../../config/config-layers.ts';
import type { Config } from '../../config/config-schema.ts';
import { SETTINGS } from '../../config/setting-names.ts';
import { reasonOf } from '../../shared/domain/reason-of.ts';
import { StartError } from '../../shared/domain/start-error.ts';

/** The settings, read again: those that are new, with the names of those that differ from what is in use; or why they can't be used. */
export type Reread<T> = (T & { readonly changed: readonly string[] }) | { readonly problem: string };

/** Reads the settings again by `read`. Whatever is wrong with them, or with reading them, those in use stay. */
export function rereadConfig<T extends { readonly config: Config }>(inUse: Config, read: () => T): Reread<T> {
  try {
    const reread = read();
    return { ...reread, changed: changedSettings(inUse, reread.config) };
  } catch (thrown) {
    return { problem: reasonOf(thrown) };
  }
}

export const formatProblem = (problem: string): string =>
  `the configuration can't be used; the old one stays in use: ${problem}`;

export const changedSettings = (before: Config, after: Config): readonly string[] =>
  SETTINGS.filter(({ path }) => !isDeepStrictEqual(valueAt(before, path), valueAt(after, path))).map(
    ({ name }) => name,
  );

/**
 * Returns the settings that a reload applies. The port, the state folder, the cluster, its peers and the end of a gateway hold
 * as long as its first process. Throws a StartError where operators would get the port that callers keep.
 */
export function withFixedSettings(config: Config, started: Config, isAdminPortChosen: boolean): Config {
  const { host, port, dataDir, cluster, embedded, redis, drainDelayMs, drainTimeoutMs } = started;
  if (isAdminPortChosen && config.admin.port === port)
    throw new StartError(78, `admin.port is ${port}, which is the port for callers until a restart`);
  const isOther = (config.upstreams.length === 0) !== (started.upstreams.length === 0);
  const upstreams = isOther ? started.upstreams : config.upstreams; // the embedded cluster is another cluster
  const workers = config.workers.count === 0 ? started.workers : config.workers;
  const fixed = { host, port, dataDir, cluster, embedded, redis, drainDelayMs, drainTimeoutMs };
  return { ...(mergeLayers(config, fixed) as Config), upstreams, workers }; // a newer version may have more in a group
}
