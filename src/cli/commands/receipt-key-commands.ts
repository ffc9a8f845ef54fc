import type { Command } from 'commander';
import type { Config } from '../../config/config-schema.ts';
import { StartError } from '../../domain/start-error.ts';
import { type KeyRing, keyState, type ReceiptKey } from '../../receipts/keys/key-ring.ts';
import { revokeKey, rotateKey } from '../../receipts/keys/key-rotation.ts';
import { extractKeySource, type KeySource } from '../../receipts/keys/key-source.ts';
import { createReceiptKey, keyFilePath, readReceiptKeyRing } from '../../receipts/keys/load-keys.ts';

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
const YEAR_HOURS = 8760;

const RELOAD_HINT = 'A gateway that runs learns of it by SIGHUP.\n';

/** `slotgate receipt key …`: makes, shows and changes the keys that a gateway with the same settings signs with. */
export function addReceiptKeyCommands(receipt: Command, configOf: (command: Command) => Config): void {
  const key = receipt.command('key').description('make, show and change the keys that sign');
  const sourceOf = (command: Command): KeySource => ({
    ...extractKeySource(process.env),
    stateDir: configOf(command).state,
  });

  key
    .command('create')
    .description('make the first key; one that is there is never replaced')
    .action((_, command: Command) => {
      const source = sourceOf(command);
      if (!createReceiptKey(source)) throw new StartError(1, `there is a key already: ${keyFilePath(source)}`);
      printKeyRing(keyRingOf(source));
    });

  key
    .command('show')
    .description('list the keys: state, id, public key, and from when it signs')
    .action((_, command: Command) => printKeyRing(keyRingOf(sourceOf(command))));

  key
    .command('rotate')
    .description('make the next key and publish it; it takes over later')
    .option('--after <hours>', 'when it takes over', `${DAY_HOURS}`)
    .action(({ after }: { readonly after: string }, command: Command) => {
      const hours = Number(after);
      if (after.trim() === '' || !(hours >= 0 && hours <= YEAR_HOURS))
        throw new StartError(64, `--after wants hours from 0 to ${YEAR_HOURS}, got ${after}`);
      const source = sourceOf(command);
      const nowMs = Date.now();
      const ring = keyRingOf(source);
      const notBeforeMs = nowMs + Math.round(hours * HOUR_MS);
      const next = orStartError(() => rotateKey(keyFilePath(source), ring, notBeforeMs, nowMs));
      printKeyRing([...ring, next]);
      process.stdout.write(RELOAD_HINT);
      if (hours < DAY_HOURS)
        process.stderr.write('slotgate: who verifies has less than a day to hear of the new key before it is used\n');
    });

  key
    .command('revoke')
    .argument('<kid>', 'the id of the key')
    .description('declare a key void, with all that it signed; for good')
    .action((kid: string, _, command: Command) => {
      const source = sourceOf(command);
      const ring = keyRingOf(source);
      if (!ring.some((key) => key.kid === kid)) throw new StartError(64, `no key has the id ${kid}`);
      const successor = orStartError(() => revokeKey(keyFilePath(source), ring, kid, Date.now()));
      printKeyRing(keyRingOf(source));
      process.stdout.write(RELOAD_HINT);
      if (successor !== null)
        process.stdout.write(`${successor.kid} signs instead. Nobody vouches for it: publish its public key.\n`);
    });
}

function keyRingOf(source: KeySource): KeyRing {
  const ring = readReceiptKeyRing(source, Date.now());
  if (ring === undefined)
    throw new StartError(
      78,
      `there is no receipt key ${keyFilePath(source)}: make it with slotgate receipt key create`,
    );
  return ring;
}

function printKeyRing(ring: KeyRing): void {
  const formatKey = (key: ReceiptKey): string => {
    const from = key.notBeforeMs === 0 ? '' : `  from ${new Date(key.notBeforeMs).toISOString()}`;
    return `${keyState(ring, key, Date.now()).padEnd(7)}  ${key.kid}  ${key.publicKey}${from}\n`;
  };
  process.stdout.write(ring.map(formatKey).join(''));
}

/** What can't be done with the keys as they are is the operator's to know, in one line. */
function orStartError<T>(work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw new StartError(1, thrown instanceof Error ? thrown.message : String(thrown), thrown);
  }
}
