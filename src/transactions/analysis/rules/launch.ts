import { decodeBase58 } from '../../codec/base58.ts';
import { isTradingProgram, programRole } from '../../programs/known-programs.ts';
import { infoAddress, type ParsedInstruction } from '../parsed-transaction.ts';
import type { Swap } from '../swap-legs.ts';
import type { Rule, TransactionFacts } from '../transaction-facts.ts';

/**
 * Interprets the launch of a token: a launchpad was called, and a mint was made in its call. A failed transaction is an
 * attempt by the table of instructions alone.
 */
export const launchRule: Rule = (facts) => {
  const { parsed, instructionOf } = facts;
  const call = parsed.instructions.find((candidate) => isLaunch(candidate, facts));
  if (call === undefined) return null;
  const user = instructionOf(call)?.roles.user ?? '';
  const actor = parsed.signers.includes(user) ? user : (facts.swap?.wallet ?? facts.actor);
  const mint = infoAddress(call.innerInstructions.find(isMintMaking), 'mint');
  // what another one bought, or of another token, is described apart
  const swap = (facts.swap?.wallet ?? actor) === actor && isOfLaunch(facts.swap, mint, call) ? facts.swap : null;
  const [name, symbol] = namesIn(call.data);
  return {
    type: 'CREATE',
    actor,
    program: call.programId,
    mint,
    name: name ?? null,
    symbol: symbol ?? null,
    swap,
    states: swap?.states ?? [],
  };
};

const isOfLaunch = (swap: Swap | null, launched: string | null, { programId }: ParsedInstruction): boolean =>
  swap?.program === programId ||
  (isTradingProgram(swap?.program ?? null) && swap?.outputs.some(({ mint }) => mint === launched) === true);

function isLaunch(call: ParsedInstruction, { instructionOf }: TransactionFacts): boolean {
  const known = instructionOf(call);
  if (known !== null) return known.type === 'CREATE'; // a migration makes the mint of a pool's shares
  return programRole(call.programId) === 'launchpad' && call.innerInstructions.some(isMintMaking);
}

const isMintMaking = ({ type }: ParsedInstruction): boolean => /^initializeMint2?$/.test(type ?? '');

/** Most characters of a name that a sentence has room for. */
const MAX_NAME_LENGTH = 40;

/**
 * Reads name and symbol, with which the arguments of a launch begin: each is its length in 4 bytes and its text, after a
 * discriminator of 8 bytes. Returns fewer if the data has no such texts.
 */
function namesIn(data: string | null): readonly string[] {
  const bytes = data === null ? undefined : decodeBase58(data);
  const names: string[] = [];
  let offset = 8;
  while (bytes !== undefined && names.length < 2 && bytes.length >= offset + 4) {
    const length = Buffer.from(bytes.buffer, bytes.byteOffset + offset, 4).readUInt32LE();
    if (length === 0 || length > MAX_NAME_LENGTH || bytes.length < offset + 4 + length) return [];
    const text = Buffer.from(bytes.subarray(offset + 4, offset + 4 + length)).toString();
    if (!/^[\p{L}\p{N}\p{P}\p{S} ]+$/u.test(text) || text.includes('\ufffd')) return [];
    names.push(text.trim());
    offset += 4 + length;
  }
  return names.length === 2 ? names : [];
}
