import {
  type CallInterpretation,
  hasAsides,
  type Interpretation,
  type Interpreted,
} from '../analysis/interpretation.ts';
import { quotedWords } from '../errors/quoted-words.ts';
import { isIncidentalProgram, programName } from '../programs/known-programs.ts';
import { programLabel, programPhrase } from './program-phrase.ts';
import { type FormatAddress, formatFlows, wordOrQuoted } from './sentence-formats.ts';
import { filledIn, wordsOf } from './words.ts';

const DEEDS: Readonly<Partial<Record<CallInterpretation['type'], string>>> = {
  QUOTE_UPDATE: 'wrote new prices',
  PLACE_ORDER: 'placed or changed orders',
  ORACLE_UPDATE: 'updated an oracle',
};

/** What a program is, by what it is for. */
const PURPOSES = wordsOf('purposes');

/**
 * Describes a call by what its program is for, or by the program's name or address alone: the instruction's type if a
 * node or a table named one, and whether balances changed.
 */
export function describeCall(interpretation: Interpreted<CallInterpretation>, formatAddress: FormatAddress): string {
  const { type, actor, program } = interpretation;
  const deed = DEEDS[type];
  if (deed === undefined) return describeUnknownCall(interpretation, formatAddress);
  const phrase = programPhrase(program, type === 'ORACLE_UPDATE' ? 'of' : 'on', formatAddress);
  const { isUntouched, lost, gained } = interpretation;
  const flows = isUntouched ? '' : formatFlows({ gave: lost, got: gained }, formatAddress);
  return `${formatAddress(actor)} ${deed}${phrase}${flows === '' ? '' : ` and ${flows}`}`;
}

/** Returns the program of which a description says no more than that it was called; null if it says more. */
export function unnamedProgramOf(interpretation: Interpretation): string | null {
  if (!('calledName' in interpretation) || DEEDS[interpretation.type] !== undefined) return null;
  const { program, instruction, calledName } = interpretation;
  return instruction === null && calledName === null && !isIncidentalProgram(program ?? '') ? program : null;
}

function describeUnknownCall(interpretation: Interpreted<CallInterpretation>, formatAddress: FormatAddress): string {
  const { type, actor, program, instruction, calledName, isUntouched, lost, gained, tips, asides } = interpretation;
  if (program === null)
    return `${formatAddress(actor)} sent a transaction ${isUntouched ? 'that does nothing' : 'whose record shows no call'}`;
  const name = programName(program);
  const programText =
    name === null
      ? programLabel(program, formatAddress)
      : filledIn(PURPOSES.get(type) ?? 'the {name} program', { name });
  const call = `${formatAddress(actor)} called ${programText}${instructionPhrase(instruction)}${calledPhrase(calledName)}`;
  if (isUntouched && hasAsides(asides)) return call;
  if (isUntouched)
    return `${call}; the record shows ${tips.length === 0 ? 'no SOL or token' : 'nothing but a tip'} that changed hands`;
  const flows = formatFlows({ gave: lost, got: gained }, formatAddress);
  const { actions, changes, hiddenTransfers } = asides;
  const isSaidBeside = actions.length + changes.length + hiddenTransfers.length > 0;
  if (flows !== '') return `${call} and ${flows}`;
  return isSaidBeside ? call : `${call}; balances of other accounts changed`;
}

/** Returns the name of an instruction, which a node may have written. */
const instructionPhrase = (name: string | null): string => (name ? ` (${wordOrQuoted(name)})` : '');

/** Returns the program's own name for an instruction, or that of its author, which is not ours to vouch for. */
function calledPhrase(name: string | null): string {
  const quoted = name === null ? null : quotedWords(name);
  return quoted === null ? '' : ` (the program calls it ${quoted})`;
}
