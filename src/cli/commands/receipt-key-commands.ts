import type { Command } from 'commander';
import {
  createReceiptKey,
  extractKeySource,
  type KeyRing,
  type KeySource,
  keyFilePath,
  keyState,
  type ReceiptKey,
  readReceiptKeyRing,
  revokeKey,
  rotateKey,
} from '../../gateway/index.ts';
import { reasonOf } from '../../shared/domain/reason-of.ts';
import { StartError } from '../../shared/domain/start-error.ts';
import { configOf, SETTINGS_HELP } from './config-of.ts';
import { asGroup } from './did-you-mean.ts';
import { examples } from './examples.ts';

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
const YEAR_HOURS = 8760;
const RELOAD_HINT = 'Send SIGHUP to a running gateway to apply this; restart one that runs on a terminal.\n';

/** Declares `slotgate receipt key …`, which creates, lists and changes the keys of a gateway with the same settings. */
export function declareReceiptKey(key: Command): void {
  asGroup(key.addHelpText('afterAll', SETTINGS_HELP));
  const sourceOf = (command: Command): KeySource => ({
    ...extractKeySource(process.env),
    stateDir: configOf(command).dataDir,
  });

  key
    .command('create')
    .description('create the first key; an existing one is never replaced')
    .addHelpText('after', examples('slotgate receipt key create --data-dir /var/lib/slotgate'))
    .action((_, command: Command) => {
      const source = sourceOf(command);
      if (!createReceiptKey(source))
        throw new StartError(1, `a key, or the record of one, exists already: ${keyFilePath(source)}`);
      printKeyRing(keyRingOf(source));
    });

  key
    .command('list')
    .alias('show')
    .description('list the keys: state, id, public key, and the time from which it signs')
    .addHelpText('after', examples('slotgate receipt key list', 'slotgate receipt key list --json'))
    .option('--json', 'print one JSON object')
    .action(({ json }: { readonly json?: true }, command: Command) => {
      const ring = keyRingOf(sourceOf(command));
      if (json === undefined) printKeyRing(ring);
      else process.stdout.write(`${JSON.stringify({ keys: ring.map((key) => describeKey(ring, key)) })}\n`);
    });

  key
    .command('rotate')
    .description('create and publish the next key, which signs later')
    .addHelpText('after', examples('slotgate receipt key rotate --after 48'))
    .option('--after <hours>', 'when it starts to sign', `${DAY_HOURS}`)
    .action(({ after }: { readonly after: string }, command: Command) => {
      const hours = Number(after);
      if (after.trim() === '' || !(hours >= 0 && hours <= YEAR_HOURS))
        throw new StartError(64, `--after must be hours from 0 to ${YEAR_HOURS}, got ${after}`);
      const source = sourceOf(command);
      const nowMs = Date.now();
      const ring = keyRingOf(source);
      const notBeforeMs = nowMs + Math.round(hours * HOUR_MS);
      const next = orStartError(() => rotateKey(keyFilePath(source), ring, notBeforeMs, nowMs));
      printKeyRing([...ring, next]);
      process.stdout.write(RELOAD_HINT);
      if (hours < DAY_HOURS)
        process.stderr.write('slotgate: verifiers have less than a day to learn the new key before it is used\n');
    });

  key
    .command('revoke')
    .argument('<kid>', 'the id of the key')
    .description('revoke a key for good, with all that it signed')
    .addHelpText('after', examples('slotgate receipt key revoke KID'))
    .action((kid: string, _, command: Command) => {
      const source = sourceOf(command);
      const ring = keyRingOf(source);
      if (!ring.some((key) => key.kid === kid)) throw new StartError(64, `no key has the id ${kid}`);
      const successor = orStartError(() => revokeKey(keyFilePath(source), ring, kid, Date.now()));
      printKeyRing(keyRingOf(source));
      process.stdout.write(RELOAD_HINT);
      if (successor !== null)
        process.stdout.write(`${successor.kid} signs instead. No key signed its succession: publish its public key.\n`);
    });
}

function keyRingOf(source: KeySource): KeyRing {
  const ring = readReceiptKeyRing(source, Date.now());
  if (ring === undefined)
    throw new StartError(
      78,
      `there is no receipt key ${keyFilePath(source)}: create it with slotgate receipt key create`,
    );
  return ring;
}

const describeKey = (ring: KeyRing, key: ReceiptKey) => ({
  state: keyState(ring, key, Date.now()),
  kid: key.kid,
  publicKey: key.publicKey,
  signsFrom: key.notBeforeMs === 0 ? null : new Date(key.notBeforeMs).toISOString(),
});

function printKeyRing(ring: KeyRing): void {
  const formatKey = (key: ReceiptKey): string => {
    const { state, kid, publicKey, signsFrom } = describeKey(ring, key);
    return `${state.padEnd(7)}  ${kid}  ${publicKey}${signsFrom === null ? '' : `  from ${signsFrom}`}\n`;
  };
  process.stdout.write(ring.map(formatKey).join(''));
}

/** Turns an Error about the keys into a StartError, which is printed in one line. */
function orStartError<T>(work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw new StartError(1, reasonOf(thrown), thrown);
  }
}
