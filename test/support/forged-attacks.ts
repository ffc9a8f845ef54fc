import {
  CLOCK_SYSVAR,
  MEMO_PROGRAM,
  STAKE_CONFIG,
  STAKE_HISTORY_SYSVAR,
  STAKE_PROGRAM,
  TOKEN_PROGRAM,
  UPGRADEABLE_LOADER,
  VOTE_PROGRAM,
} from '../../src/shared/domain/well-known-addresses.ts';
import { explainTransaction } from '../../src/transactions/explain/explain-transaction.ts';
import { shortAddress } from '../../src/transactions/explain/sentence-formats.ts';
import type { Transaction } from '../../src/transactions/records/transaction.ts';
import { type Attack, readThefts } from './forged-thefts.ts';
import { FORMS, type ForgedCall, type Forgery } from './forged-transaction.ts';
import {
  bonk,
  decoy,
  GAME,
  JITO_TIPS,
  JUPITER,
  KAMINO,
  key,
  PYTH,
  pool,
  poolBonk,
  prepare,
  program,
  SQUADS,
  sponsor,
  traded,
  victim,
} from './forged-world.ts';
import { enhancedOf } from './recorded-transactions.ts';
import { addressOf } from './synthetic-transaction.ts';

/** The scene in which somebody else than those that sign for a theft pays the fee. */
const SPONSORED = 'that a sponsor pays for';

/** What happens beside a theft: it must not hide it. */
export const SCENES: Readonly<
  Record<string, (forgery: Forgery, theft: readonly ForgedCall[]) => readonly ForgedCall[]>
> = {
  alone: (_, theft) => theft,
  [SPONSORED]: (_, theft) => theft,
  'beside a swap on Raydium': (forgery, theft) => [traded(forgery), ...theft],
  'before a swap on Raydium': (forgery, theft) => [...theft, traded(forgery)],
  'after a swap on Jupiter in the call of a program': (forgery, theft) => [
    forgery.program(JUPITER, [victim], traded(forgery)),
    forgery.program(program, [victim], ...theft),
  ],
  'in the call of a program that swaps': (forgery, theft) => [
    forgery.program(program, [victim], traded(forgery), ...theft),
  ],
  'beside a move in a game': (forgery, theft) => [forgery.program(GAME, [victim]), ...theft],
  'in the call of a multisig': (forgery, theft) => [forgery.program(SQUADS, [victim], ...theft)],
  'beside a deposit with a lender': (forgery, theft) => [
    forgery.program(KAMINO, [victim], forgery.send(bonk, poolBonk, victim, 700_000n)),
    ...theft,
  ],
  'in the call of a program that deposits with a lender': (forgery, theft) => [
    forgery.program(
      program,
      [victim],
      forgery.program(KAMINO, [victim], forgery.send(bonk, poolBonk, victim, 700_000n)),
      ...theft,
    ),
  ],
  'beside the launch of a token': (forgery, theft) => [
    forgery.program(
      '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P',
      [victim],
      forgery.create(victim, addressOf(71), 1_461_600n, TOKEN_PROGRAM, 82n),
      forgery.call(TOKEN_PROGRAM, [addressOf(71)], [20, 6, ...key(pool), 0]),
    ),
    ...theft,
  ],
  'beside a vote': (forgery, theft) => [forgery.call(VOTE_PROGRAM, [decoy, victim], [14, 0, 0, 0]), ...theft],
  'beside the deployment of a program': (forgery, theft) => [
    forgery.call(UPGRADEABLE_LOADER, [addressOf(44), victim], [1, 0, 0, 0, 0, 0, 0, 0]),
    ...theft,
  ],
  'beside a delegation of stake': (forgery, theft) => [
    forgery.call(
      STAKE_PROGRAM,
      [addressOf(45), addressOf(46), CLOCK_SYSVAR, STAKE_HISTORY_SYSVAR, STAKE_CONFIG, victim],
      [2, 0, 0, 0],
    ),
    ...theft,
  ],
  'beside the update of an oracle': (forgery, theft) => [
    forgery.call(PYTH, [victim], [2, 0, 0, 0, 7, 0, 0, 0]),
    ...theft,
  ],
  'beside a memo and a tip': (forgery, theft) => [
    forgery.note(MEMO_PROGRAM, 'gm'),
    forgery.sendSol(victim, JITO_TIPS, 10_000n),
    ...theft,
  ],
};

/** Thefts, with what a description must name. */
export const ATTACKS = readThefts();
for (const [name, { not = [], only = [] }] of Object.entries(ATTACKS))
  for (const scene of [...not, ...only])
    if (!Object.hasOwn(SCENES, scene)) throw new Error(`the theft ${name} names a scene that there is not: ${scene}`);

/** A theft in a scene, as a record in a form; null where it makes no sense. */
export function forgeAttack(scene: string, name: string, form: keyof typeof FORMS = 'whole'): Transaction | null {
  const [arrange, attack] = [SCENES[scene], ATTACKS[name]];
  if (arrange === undefined || attack === undefined || !scenesOf(attack).includes(scene)) return null;
  const signers = attack.signers ?? [victim];
  const forgery = prepare(scene === SPONSORED && !signers.includes(sponsor) ? [sponsor, ...signers] : signers);
  return forgery.record(arrange(forgery, attack.make(forgery)), FORMS[form]);
}

/** Returns the scenes in which an attack makes sense. */
export const scenesOf = ({ not = [], only }: Attack): readonly string[] =>
  only ?? Object.keys(SCENES).filter((scene) => !not.includes(scene));

/** Deeds that cost nobody anything. */
const HARMLESS = new RegExp(
  `^(The validator|\\w+ (called the (game|Pyth)|updated an oracle|uploaded a part|made (room|the account)|staked the stake account ${addressOf(45)}|wrote|advanced|opened|added addresses))`,
);

/** Returns what the texts on a theft lack of what they must name, and what they must not say. */
export function lackingIn(transaction: Transaction, { says, never, signers = [] }: Attack): readonly string[] {
  const enhanced = enhancedOf(transaction);
  const { description } = enhanced;
  const explanation = explainTransaction(enhanced);
  const short = (text: string): string => text.replace(/\w{32,44}/g, shortAddress);
  return [
    ...says.filter((part) => !description.includes(part)).map((part) => `${part}: ${description}`),
    ...says.filter((part) => !explanation.includes(short(part))).map((part) => `${part}: ${explanation}`),
    ...(never?.test(description) === true ? [`${never}: ${description}`] : []),
    ...(description.startsWith(sponsor) && !signers.includes(sponsor) ? [`who acted: ${description}`] : []),
    ...(HARMLESS.test(description) && !says.some((part) => description.startsWith(part))
      ? [`begins with what is harmless: ${description}`]
      : []),
  ];
}

/** Forges each theft in each scene and form, with its description and what that lacks. */
export const forgeAll = () =>
  Object.entries(ATTACKS).flatMap(([name, attack]) =>
    Object.keys(SCENES).flatMap((scene) =>
      (['whole', 'withoutDepths', 'withTables'] as const).flatMap((form) => {
        const transaction = forgeAttack(scene, name, form);
        if (transaction === null) return [];
        const { description } = enhancedOf(transaction);
        return [{ name, scene, form, description, lacking: lackingIn(transaction, attack) }];
      }),
    ),
  );
