import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { StartError } from '../shared/domain/start-error.ts';
import type { Config } from './config-schema.ts';
import { readRedisPassword, type Secrets } from './secret-variables.ts';

export interface RedisSettings {
  readonly url: string;
  readonly password: string | undefined;
  /** Certificate in PEM that the store's must be signed with; undefined for those that Node trusts. */
  readonly ca: string | undefined;
}

/** Reads the settings of the fleet that a gateway joins, as {@link readRedisSettings} does; they need `upstreams`. */
export function readFleetSettings(config: Config, secrets: Secrets): RedisSettings | undefined {
  const settings = readRedisSettings(config, secrets);
  if (settings !== undefined && config.upstreams.length === 0)
    throw new StartError(
      78,
      'redis.url needs upstreams: each gateway would start an embedded cluster of its own, and they would answer differently',
    );
  return settings;
}

/** Reads the settings of the fleet; undefined without `redis.url`. Throws a StartError for those that can't be used. */
export function readRedisSettings({ redis }: Config, secrets: Secrets): RedisSettings | undefined {
  const { url, passwordFile, ca } = redis;
  if (url === null) return undefined;
  return { url, password: readRedisPassword(secrets, passwordFile), ca: ca === null ? undefined : readCertificate(ca) };
}

function readCertificate(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new StartError(78, `redis.ca: can't read ${path}`, cause);
  }
  try {
    new X509Certificate(text);
  } catch (cause) {
    throw new StartError(78, `redis.ca: expected a certificate in PEM in ${path}`, cause);
  }
  return text;
}
