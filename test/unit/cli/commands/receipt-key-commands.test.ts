import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { runSlotgate, type SlotgateOutput } from '../../../support/run-slotgate.ts';

/** Runs `slotgate receipt key …` on a state folder; returns output and exit code. */
const commandsOver =
  (state: string, env: Readonly<Record<string, string>> = {}) =>
  (...args: string[]): Promise<SlotgateOutput> =>
    runSlotgate(['receipt', 'key', ...args, '--state', state], env);

const rows = ({ out }: SlotgateOutput): readonly (readonly string[])[] =>
  out
    .split('\n')
    .filter((line) => /^(active|next|retired|revoked) /.test(line))
    .map((line) => line.split(/\s+/));
const states = (said: SlotgateOutput): readonly (string | undefined)[] => rows(said).map(([state]) => state);
const kid = (said: SlotgateOutput, n: number): string => rows(said)[n]?.[1] ?? '';

function fails(t: Test, said: SlotgateOutput, code: number, why: RegExp): void {
  t.equal(said.code, code);
  t.match(said.err, why);
  t.match(said.err, /^slotgate: [^\n]+\n$/);
  t.equal(said.out, '');
}

t.test('the life of a key: created once, listed, rotated once at a time, revoked for good', async (t) => {
  const state = join(t.testdir(), 'state');
  const key = commandsOver(state, { NODE_ENV: 'production' });
  fails(t, await key('show'), 78, /there is no receipt key .*receipt-key\.pem: .*create/);
  const created = await key('create');
  t.equal(created.code, 0);
  t.match(created.out, /^active {3}[0-9a-f]{16} {2}[1-9A-HJ-NP-Za-km-z]{32,44}\n$/);
  fails(t, await key('create'), 1, /a key exists already: .*receipt-key\.pem/);
  t.equal((await key('show')).out, created.out);

  const rotated = await key('rotate');
  t.same(states(rotated), ['active', 'next']);
  const from = Date.parse(/from (\S+)/.exec(rotated.out)?.[1] ?? '');
  t.ok(Math.abs(from - Date.now() - 86_400_000) < 60_000, 'a day from now');
  t.match(rotated.out, /SIGHUP/);
  t.equal(rotated.err, '');
  fails(t, await key('rotate'), 1, /is already pending/);

  const revoked = await key('revoke', kid(rotated, 1));
  t.same(states(revoked), ['active', 'revoked']);
  const soon = await key('rotate', '--after', '0');
  t.same(states(soon), ['retired', 'revoked', 'active']);
  t.match(soon.err, /less than a day/);
  const voided = await key('revoke', kid(soon, 2));
  t.same(states(voided), ['retired', 'revoked', 'revoked', 'active']);
  t.match(voided.out, `${kid(voided, 3)} signs instead`);
  t.equal(kid(voided, 0), kid(created, 0));
  t.same(states(await key('show')), ['retired', 'revoked', 'revoked', 'active']);
});

t.test('invalid arguments are reported and change nothing', async (t) => {
  const state = t.testdir();
  const key = commandsOver(state);
  await key('create');
  fails(t, await key('revoke', '0000000000000000'), 64, /no key has the id 0{16}/);
  for (const after of ['', 'soon', '-1', '8761'])
    fails(t, await key('rotate', `--after=${after}`), 64, /--after must be hours from 0 to 8760/);
  fails(t, await key('revoke'), 64, /missing required argument/);
  fails(t, await key('destroy'), 64, /unknown command receipt key destroy, the nearest known name is receipt key/);
  t.same(readdirSync(state), ['receipt-key.pem']);
});

t.test('a key that RECEIPT_KEY_FILE names has its history next to it', async (t) => {
  const dir = t.testdir();
  const file = join(dir, 'own', 'key');
  const key = commandsOver(join(dir, 'state'), { RECEIPT_KEY_FILE: file });
  t.equal((await key('create')).code, 0);
  t.same(states(await key('rotate', '--after', '0')), ['retired', 'active']);
  t.same(readdirSync(`${file}.d`).sort(), ['.gitignore', '1.json', '2.json', '2.pem']);
  t.notOk(existsSync(join(dir, 'state')));
  rmSync(join(`${file}.d`, '2.json'));
  rmSync(join(`${file}.d`, '1.json'));
  t.same(states(await key('show')), ['active']);
});

t.test('a key that is given inline can not be changed here', async (t) => {
  const key = commandsOver(t.testdir(), { RECEIPT_KEY: 'ephemeral' });
  for (const verb of ['create', 'show', 'rotate']) fails(t, await key(verb), 78, /RECEIPT_KEY is set/);
});
