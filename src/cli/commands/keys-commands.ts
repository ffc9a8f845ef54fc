import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { Argument, type Command, Option } from 'commander';
import type { Config } from '../../config/config-schema.ts';
import {
  type ApiKeyRecord,
  digestOfKey,
  generateApiKey,
  isKeyValid,
  KEY_TIERS,
  type KeyTier,
  REQUEST_OUTCOMES,
  readUsage,
  shownUsage,
  usagePath,
} from '../../gateway/index.ts';
import { StartError } from '../../shared/domain/start-error.ts';
import { formatTable } from '../terminal/text-table.ts';
import { configOf, SETTINGS_HELP } from './config-of.ts';
import { readUsageOfFleet } from './configured-fleet.ts';
import { asGroup, withChoices } from './did-you-mean.ts';
import { examples } from './examples.ts';
import { type KeyStore, keyStoreOf, restoreKeys } from './key-stores.ts';

interface CreateOptions {
  readonly tier: KeyTier;
  readonly label: string;
  readonly expires?: string;
  readonly perIp?: string;
}

/** Declares `slotgate keys …`, which manages API keys. */
export function declareKeys(keys: Command): void {
  asGroup(keys.addHelpText('afterAll', SETTINGS_HELP));
  const id = new Argument('<id>', 'the id of a key, from slotgate keys list');

  keys
    .command('create')
    .description('issue a key; it is printed only now, and stored only as a digest')
    .addHelpText('after', examples('slotgate keys create --tier build --label "a shop" --expires 90d'))
    .addOption(
      withChoices(
        new Option('--tier <tier>', 'what its owner may do'),
        'value of --tier',
        KEY_TIERS,
      ).makeOptionMandatory(),
    )
    .requiredOption('--label <text>', 'its owner or purpose')
    .option('--expires <time>', 'a date (2027-01-31) or a time from now (90d, 12h)')
    .option('--per-ip <units>', 'the most units per window from one address')
    .action(async (options: CreateOptions, command: Command) => {
      await printIssued(configOf(command), (store) => createKey(store, options));
    });

  keys
    .command('list')
    .description('show all keys')
    .addHelpText('after', examples('slotgate keys list', 'slotgate keys list --json | jq .keys'))
    .option('--json', 'print one JSON object')
    .action(async ({ json }: { readonly json?: true }, command: Command) => {
      const config = configOf(command);
      const { name, read } = keyStoreOf(config);
      if (config.redis.url === null && !existsSync(name))
        process.stderr.write(`there is no ${name}: no key was issued in this state folder\n`);
      const all = await read();
      process.stdout.write(
        json === undefined ? formatKeyList(all) : `${JSON.stringify({ keys: all.map(shownKey) })}\n`,
      );
    });

  keys
    .command('revoke')
    .description('revoke a key')
    .addHelpText('after', examples('slotgate keys revoke 1a2b3c4d'))
    .addArgument(id)
    .action(async (id: string, _, command: Command) => {
      const store = keyStoreOf(configOf(command));
      await revokeKey(store, id);
      process.stdout.write(`${id} is revoked\n`);
      process.stderr.write(`changed ${store.name}\n`);
    });

  keys
    .command('rotate')
    .description('issue a key that replaces another')
    .addHelpText('after', examples('slotgate keys rotate 1a2b3c4d --grace 24h'))
    .addArgument(id)
    .option('--grace <time>', 'how long the old key stays valid (24h, 7d)', '0h')
    .action(async (id: string, { grace }: { readonly grace: string }, command: Command) => {
      await printIssued(configOf(command), (store) => rotateKey(store, id, grace));
    });

  keys
    .command('usage')
    .description('show requests by day, key, route and outcome, and their units')
    .addHelpText('after', examples('slotgate keys usage', 'slotgate keys usage 1a2b3c4d --json'))
    .addArgument(new Argument('[id]', 'the id of one key'))
    .option('--json', 'print one JSON object')
    .action(async (id: string | undefined, { json }: { readonly json?: true }, command: Command) => {
      const config = configOf(command);
      const all = config.redis.url === null ? readUsage(usagePath(config.dataDir)) : await readUsageOfFleet(config);
      const rows = all.filter(({ key }) => id === undefined || key === id);
      if (json !== undefined) {
        process.stdout.write(`${JSON.stringify({ usage: rows.map(shownUsage) })}\n`);
        return;
      }
      const lines = rows.map(({ day, key, route, counts, units, givenBack }) => [
        day,
        key,
        route,
        ...[...counts, units - givenBack].map(String),
      ]);
      process.stdout.write(formatTable([['day', 'key', 'route', ...REQUEST_OUTCOMES, 'units'], ...lines]));
    });

  keys
    .command('restore')
    .description(
      'give the Redis of a fleet the keys that this state folder knows: the first time, or after it lost them',
    )
    .addHelpText('after', examples('slotgate keys restore --redis redis://redis.internal:6379'))
    .action(async (_, command: Command) => {
      const count = await restoreKeys(configOf(command));
      process.stdout.write(`the fleet has ${count} keys\n`);
    });
}

/** What may be shown of a key. */
const shownKey = ({ sha256: _, ...shown }: ApiKeyRecord): Omit<ApiKeyRecord, 'sha256'> => shown;

interface IssuedKey {
  readonly key: string;
  readonly record: ApiKeyRecord;
}

function createKey(store: KeyStore, { tier, label, expires, perIp }: CreateOptions): Promise<IssuedKey> {
  const nowMs = Date.now();
  const expiresAt = expires === undefined ? null : parseTime(expires, nowMs);
  if (expiresAt !== null && Date.parse(expiresAt) <= nowMs)
    throw new StartError(64, `--expires ${expires} has passed: the key would never be valid`);
  if (perIp !== undefined && !/^[1-9]\d{0,8}$/.test(perIp))
    throw new StartError(64, '--per-ip must be a whole number from 1 on');
  return store.update((keys) => {
    const issuedKey = issueKey(keys, {
      tier,
      label,
      expiresAt,
      ...(perIp !== undefined && { perIpLimit: Number(perIp) }),
    });
    return { keys: [...keys, issuedKey.record], result: issuedKey };
  });
}

const revokeKey = (store: KeyStore, id: string): Promise<void> =>
  store.update((keys) => ({ keys: withRevocation(keys, id, Date.now(), store.name), result: undefined }));

function rotateKey(store: KeyStore, id: string, grace: string): Promise<IssuedKey> {
  const untilMs = Date.parse(parseTime(grace, Date.now()));
  return store.update((keys) => {
    const rest = withRevocation(keys, id, untilMs, store.name);
    const { tier, label, expiresAt, perIpLimit } = findKey(keys, id, store.name);
    if (expiresAt !== null && Date.parse(expiresAt) <= Date.now())
      throw new StartError(1, `${id} has expired, and so would its successor: create a key`);
    const issuedKey = issueKey(keys, { tier, label, expiresAt, ...(perIpLimit !== undefined && { perIpLimit }) });
    return { keys: [...rest, issuedKey.record], result: issuedKey };
  });
}

function withRevocation(
  keys: readonly ApiKeyRecord[],
  id: string,
  atMs: number,
  place: string,
): readonly ApiKeyRecord[] {
  const { isRevoked = false, revokedAt } = findKey(keys, id, place);
  const endsMs = revokedAt === null ? Number.POSITIVE_INFINITY : Date.parse(revokedAt);
  if (isRevoked || endsMs <= Date.now()) throw new StartError(1, `${id} is revoked already`);
  // A gateway that has a copy of the keys moves no end to a later time: an old record brings no revoked key back.
  if (atMs > endsMs) throw new StartError(1, `${id} ends at ${revokedAt} already, which can only be made earlier`);
  const revocation = {
    revokedAt: new Date(atMs).toISOString(),
    ...(atMs <= Date.now() && { isRevoked: true as const }),
  };
  return keys.map((key) => (key.id === id ? { ...key, ...revocation } : key));
}

function findKey(keys: readonly ApiKeyRecord[], id: string, place: string): ApiKeyRecord {
  const key = keys.find((key) => key.id === id);
  if (key === undefined) throw new StartError(1, `no key has the id ${id} in ${place}`);
  return key;
}

type KeyTerms = Pick<ApiKeyRecord, 'tier' | 'label' | 'expiresAt' | 'perIpLimit'>;

function issueKey(keys: readonly ApiKeyRecord[], { tier, label, expiresAt, ...bound }: KeyTerms): IssuedKey {
  const key = generateApiKey();
  let id = '';
  do id = randomBytes(4).toString('hex');
  while (keys.some((other) => other.id === id));
  const stored = { id, sha256: digestOfKey(key), last4: key.slice(-4), tier, label };
  return { key, record: { ...stored, createdAt: new Date().toISOString(), expiresAt, revokedAt: null, ...bound } };
}

/** A key in a state folder counts only at the gateways with this folder, so it is easily another one than meant. */
async function printIssued(config: Config, issue: (store: KeyStore) => Promise<IssuedKey>): Promise<void> {
  const { dataDir, redis } = config;
  const store = keyStoreOf(config);
  const isNew = redis.url === null && !existsSync(dataDir);
  const { key, record } = await issue(store);
  if (isNew)
    process.stderr.write(`created the state folder ${dataDir}: only a gateway with this folder knows the key\n`);
  process.stderr.write(`key ${record.id}, tier ${record.tier}, is in ${store.name}; it is printed only now:\n`);
  process.stdout.write(`${key}\n`);
}

const UNIT_MS = { h: 3_600_000, d: 86_400_000 } as const;

function parseTime(text: string, nowMs: number): string {
  const [, count, unit] = /^(\d{1,5})([hd])$/.exec(text) ?? [];
  if (count !== undefined) return new Date(nowMs + Number(count) * UNIT_MS[unit === 'h' ? 'h' : 'd']).toISOString();
  const [day = ''] = /^\d{4}-\d\d-\d\d(?=T|$)/.exec(text) ?? [];
  const time = new Date(text);
  const isDay = day !== '' && new Date(day).toJSON()?.startsWith(day); // a day that its month lacks would be one of the next
  if (!isDay || Number.isNaN(time.getTime()))
    throw new StartError(64, `${text} is neither a date (2027-01-31) nor a time from now (90d, 12h)`);
  return time.toISOString();
}

function formatKeyList(keys: readonly ApiKeyRecord[]): string {
  const lines = keys.map((key) => {
    const state = isKeyValid(key, Date.now()) ? 'valid' : key.revokedAt === null ? 'expired' : 'revoked';
    const bound = key.perIpLimit === undefined ? '-' : String(key.perIpLimit);
    return [key.id, `…${key.last4}`, key.tier, state, key.createdAt, endOf(key) ?? '-', bound, key.label];
  });
  return formatTable([['id', 'key', 'tier', 'state', 'created', 'expires', 'per ip', 'label'], ...lines]);
}

/** Returns the time from which a key is not valid: it expires, or was revoked or rotated as of a time; undefined for none. */
const endOf = ({ expiresAt, revokedAt }: ApiKeyRecord): string | undefined =>
  [expiresAt, revokedAt].filter((time) => time !== null).sort((a, b) => Date.parse(a) - Date.parse(b))[0];
