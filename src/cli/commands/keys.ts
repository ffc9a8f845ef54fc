import { randomBytes } from 'node:crypto';
import { Argument, type Command, Option } from 'commander';
import { digestOfKey, newApiKey } from '../../access/api-keys/api-key.ts';
import { isValid, KEY_TIERS, type KeyRecord, type KeyTier } from '../../access/api-keys/key-record.ts';
import { changeKeys, keysPath, readKeys } from '../../access/api-keys/key-store.ts';
import { readUsage, usagePath } from '../../access/usage/usage-file.ts';
import { OUTCOMES } from '../../access/usage/usage-line.ts';
import { StartError } from '../../domain/start-error.ts';
import { table } from './table.ts';

interface CreateOptions {
  readonly tier: KeyTier;
  readonly label: string;
  readonly expires?: string;
  readonly perIp?: string;
}

/** `slotgate keys …`: who holds an API key, and what for. `stateOf` gives the state folder that a command is about. */
export function keyCommands(program: Command, stateOf: (command: Command) => string): void {
  const keys = program
    .command('keys')
    .description('issue, list and revoke API keys, and tell what they were used for')
    .allowExcessArguments()
    .action(() => {
      throw new StartError(64, `keys wants one of ${keys.commands.map((known) => known.name()).join(', ')}`);
    });
  const id = new Argument('<id>', 'the id of a key, as the list shows it');

  keys
    .command('create')
    .description('issue a key; it is printed this once and kept only as a digest')
    .addOption(new Option('--tier <tier>').choices(KEY_TIERS).makeOptionMandatory())
    .requiredOption('--label <text>', 'whose it is, or what for')
    .option('--expires <time>', 'a date (2027-01-31) or a time from now (90d, 12h)')
    .option('--per-ip <requests>', 'how many of its requests in a window may come from one address')
    .action(async (options: CreateOptions, command: Command) => {
      await issued(create(keysPath(stateOf(command)), options));
    });

  keys
    .command('list')
    .description('show all keys')
    .action((_, command: Command) => {
      process.stdout.write(listOf(readKeys(keysPath(stateOf(command)))));
    });

  keys
    .command('revoke')
    .description('let a key open nothing any more')
    .addArgument(id)
    .action(async (id: string, _, command: Command) => {
      await revoke(keysPath(stateOf(command)), id);
      process.stdout.write(`${id} is revoked\n`);
    });

  keys
    .command('rotate')
    .description('issue a key in place of another')
    .addArgument(id)
    .option('--grace <time>', 'for how long the old one still works (24h, 7d)', '0h')
    .action(async (id: string, { grace }: { readonly grace: string }, command: Command) => {
      await issued(rotate(keysPath(stateOf(command)), id, grace));
    });

  keys
    .command('usage')
    .description('tell by day, key and route how requests ended')
    .addArgument(new Argument('[id]', 'the id of one key'))
    .action((id: string | undefined, _, command: Command) => {
      const rows = readUsage(usagePath(stateOf(command))).filter(({ key }) => id === undefined || key === id);
      const lines = rows.map(({ day, key, route, counts }) => [day, key, route, ...counts.map(String)]);
      process.stdout.write(table([['day', 'key', 'route', ...OUTCOMES], ...lines]));
    });
}

interface Issued {
  readonly key: string;
  readonly record: KeyRecord;
}

function create(path: string, { tier, label, expires, perIp }: CreateOptions): Promise<Issued> {
  const nowMs = Date.now();
  const expiresAt = expires === undefined ? null : timeOf(expires, nowMs);
  if (perIp !== undefined && !/^[1-9]\d{0,8}$/.test(perIp))
    throw new StartError(64, '--per-ip wants a whole number from 1 on');
  return changeKeys(path, (keys) => {
    const made = issue(keys, { tier, label, expiresAt, ...(perIp !== undefined && { perIpLimit: Number(perIp) }) });
    return { keys: [...keys, made.record], result: made };
  });
}

const revoke = (path: string, id: string): Promise<void> =>
  changeKeys(path, (keys) => ({ keys: ended(keys, id, Date.now()), result: undefined }));

function rotate(path: string, id: string, grace: string): Promise<Issued> {
  const untilMs = Date.parse(timeOf(grace, Date.now()));
  return changeKeys(path, (keys) => {
    const rest = ended(keys, id, untilMs);
    const { tier, label, expiresAt, perIpLimit } = find(keys, id);
    const made = issue(keys, { tier, label, expiresAt, ...(perIpLimit !== undefined && { perIpLimit }) });
    return { keys: [...rest, made.record], result: made };
  });
}

/** The keys, with one of them revoked from a time on. */
function ended(keys: readonly KeyRecord[], id: string, atMs: number): readonly KeyRecord[] {
  const { revokedAt } = find(keys, id);
  if (revokedAt !== null && Date.parse(revokedAt) <= Date.now()) throw new StartError(1, `${id} was revoked before`);
  return keys.map((key) => (key.id === id ? { ...key, revokedAt: new Date(atMs).toISOString() } : key));
}

function find(keys: readonly KeyRecord[], id: string): KeyRecord {
  const key = keys.find((key) => key.id === id);
  if (key === undefined) throw new StartError(1, `no key has the id ${id}`);
  return key;
}

type Terms = Pick<KeyRecord, 'tier' | 'label' | 'expiresAt' | 'perIpLimit'>;

function issue(keys: readonly KeyRecord[], { tier, label, expiresAt, ...bound }: Terms): Issued {
  const key = newApiKey();
  let id = '';
  do id = randomBytes(4).toString('hex');
  while (keys.some((other) => other.id === id));
  const stored = { id, sha256: digestOfKey(key), last4: key.slice(-4), tier, label };
  return { key, record: { ...stored, createdAt: new Date().toISOString(), expiresAt, revokedAt: null, ...bound } };
}

/** The key alone goes to standard output, for whoever stores it; what is said of it beside. */
async function issued(making: Promise<Issued>): Promise<void> {
  const { key, record } = await making;
  process.stderr.write(`key ${record.id}, tier ${record.tier}; it is shown only now:\n`);
  process.stdout.write(`${key}\n`);
}

const UNITS = { h: 3_600_000, d: 86_400_000 } as const;

function timeOf(text: string, nowMs: number): string {
  const [, count, unit] = /^(\d{1,5})([hd])$/.exec(text) ?? [];
  if (count !== undefined) return new Date(nowMs + Number(count) * UNITS[unit === 'h' ? 'h' : 'd']).toISOString();
  const time = /^\d{4}-\d\d-\d\d(T.*)?$/.test(text) ? new Date(text) : undefined;
  if (time === undefined || Number.isNaN(time.getTime()))
    throw new StartError(64, `${text} is neither a date (2027-01-31) nor a time from now (90d, 12h)`);
  return time.toISOString();
}

function listOf(keys: readonly KeyRecord[]): string {
  const lines = keys.map((key) => {
    const state = isValid(key, Date.now()) ? 'valid' : key.revokedAt === null ? 'expired' : 'revoked';
    const bound = key.perIpLimit === undefined ? '-' : String(key.perIpLimit);
    return [key.id, `…${key.last4}`, key.tier, state, key.createdAt, key.expiresAt ?? '-', bound, key.label];
  });
  return table([['id', 'key', 'tier', 'state', 'created', 'expires', 'per ip', 'label'], ...lines]);
}
