import { readFileSync } from 'node:fs';
import type { Config } from '../../../../config/config-schema.ts';
import { readRedisPassword, type Secrets } from '../../../../config/secret-variables.ts';
import { StartError } from '../../../../shared/domain/start-error.ts';

export interface RedisSettings {
  readonly url: string;
  readonly password: string | undefined;
  /** Certificate in PEM that the store's must be signed with; undefined for those that Node trusts. */
  readonly ca: string | undefined;
}

/** Reads the settings of the fleet; undefined without `redis.url`. Throws a StartError for those that can't be used. */
export function readRedisSettings({ redis, upstreams }: Config, secrets: Secrets): RedisSettings | undefined {
  const { url, passwordFile, ca } = redis;
  if (url === null) return undefined;
  if (upstreams.length === 0)
    throw new StartError(
      78,
      'redis.url needs upstreams: each gateway would start an embedded cluster of its own, and they would answer differently',
    );
  return { url, password: readRedisPassword(secrets, passwordFile), ca: ca === null ? undefined : readCertificate(ca) };
}

function readCertificate(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new StartError(78, `redis.ca: can't read ${path}`, cause);
  }
}
