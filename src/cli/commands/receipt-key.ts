import type { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { StartError } from '../../domain/start-error.ts';
import { type KeyRing, type KnownKey, keyState } from '../../receipts/keys/key-ring.ts';
import { revokeKey, rotateKey } from '../../receipts/keys/key-rotation.ts';
import { type KeySource, takeKeySource } from '../../receipts/keys/key-source.ts';
import { createReceiptKey, keyFileOf, readReceiptKeys } from '../../receipts/keys/open-keys.ts';

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
const YEAR_HOURS = 8760;

const RELOAD = 'A gateway that runs learns of it by SIGHUP.\n';

/** `slotgate receipt key …`: makes, shows and changes the keys that a gateway with the same settings signs with. */
export function receiptKeyCommands(receipt: Command, configOf: (command: Command) => Config): void {
  const key = receipt.command('key').description('make, show and change the keys that sign');
  const sourceOf = (command: Command): KeySource => ({
    ...takeKeySource(process.env),
    stateDir: configOf(command).state,
  });

  key
    .command('create')
    .description('make the first key; one that is there is never replaced')
    .action((_, command: Command) => {
      const source = sourceOf(command);
      if (!createReceiptKey(source)) throw new StartError(1, `there is a key already: ${keyFileOf(source)}`);
      print(keysOf(source));
    });

  key
    .command('show')
    .description('list the keys: state, id, public key, and from when it signs')
    .action((_, command: Command) => print(keysOf(sourceOf(command))));

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
      const ring = keysOf(source);
      const notBeforeMs = nowMs + Math.round(hours * HOUR_MS);
      const next = orFail(() => rotateKey(keyFileOf(source), ring, notBeforeMs, nowMs));
      print([...ring, next]);
      process.stdout.write(RELOAD);
      if (hours < DAY_HOURS)
        process.stderr.write('slotgate: who verifies has less than a day to hear of the new key before it is used\n');
    });

  key
    .command('revoke')
    .argument('<kid>', 'the id of the key')
    .description('declare a key void, with all that it signed; for good')
    .action((kid: string, _, command: Command) => {
      const source = sourceOf(command);
      const ring = keysOf(source);
      if (!ring.some((key) => key.kid === kid)) throw new StartError(64, `no key has the id ${kid}`);
      const successor = orFail(() => revokeKey(keyFileOf(source), ring, kid, Date.now()));
      print(keysOf(source));
      process.stdout.write(RELOAD);
      if (successor !== null)
        process.stdout.write(`${successor.kid} signs instead. Nobody vouches for it: publish its public key.\n`);
    });
}

function keysOf(source: KeySource): KeyRing {
  const ring = readReceiptKeys(source, Date.now());
  if (ring === undefined)
    throw new StartError(78, `there is no receipt key ${keyFileOf(source)}: make it with slotgate receipt key create`);
  return ring;
}

function print(ring: KeyRing): void {
  const line = (key: KnownKey): string => {
    const from = key.notBeforeMs === 0 ? '' : `  from ${new Date(key.notBeforeMs).toISOString()}`;
    return `${keyState(ring, key, Date.now()).padEnd(7)}  ${key.kid}  ${key.publicKey}${from}\n`;
  };
  process.stdout.write(ring.map(line).join(''));
}

/** What can't be done with the keys as they are is the operator's to know, in one line. */
function orFail<T>(work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw new StartError(1, thrown instanceof Error ? thrown.message : String(thrown), thrown);
  }
}
