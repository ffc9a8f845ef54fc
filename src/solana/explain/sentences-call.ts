import type { Asides, CallInterpretation, Told } from '../analysis/interpretation.ts';
import { programName } from '../programs/known-programs.ts';
import { programPhrase } from './program-phrase.ts';
import { type FormatAddress, formatAmounts } from './sentence-formats.ts';

const DEEDS: Readonly<Partial<Record<CallInterpretation['type'], string>>> = {
  QUOTE_UPDATE: 'wrote new prices',
  PLACE_ORDER: 'placed or changed orders',
  ORACLE_UPDATE: 'updated an oracle',
};

/** What a program is, by what it is for. */
const PURPOSES: Readonly<Partial<Record<CallInterpretation['type'], (name: string) => string>>> = {
  BRIDGE: (name) => `the bridge ${name}`,
  PERPS: (name) => `the perpetuals exchange ${name}`,
  GAME: (name) => `the game ${name}`,
  LEND: (name) => `the lending program ${name}`,
};

/**
 * Describes a call by what its program is for, or by the program's name or address alone: the instruction's type if a
 * node or a table named one, and whether balances changed.
 */
export function describeCall(interpretation: Told<CallInterpretation>, formatAddress: FormatAddress): string {
  const { type, actor, program } = interpretation;
  const deed = DEEDS[type];
  if (deed === undefined) return describeUnknownCall(interpretation, formatAddress);
  const phrase = programPhrase(program, type === 'ORACLE_UPDATE' ? 'of' : 'on', formatAddress);
  const flows = interpretation.isUntouched ? [] : flowsOf(interpretation, formatAddress);
  return [`${formatAddress(actor)} ${deed}${phrase}`, ...flows].join(' and ');
}

function describeUnknownCall(interpretation: Told<CallInterpretation>, formatAddress: FormatAddress): string {
  const { type, actor, program, instruction, isUntouched, tip, asides } = interpretation;
  if (program === null) return `${formatAddress(actor)} sent a transaction that does nothing`;
  const name = programName(program);
  const programText =
    name === null ? `the program ${formatAddress(program)}` : (PURPOSES[type]?.(name) ?? `the ${name} program`);
  const call = `${formatAddress(actor)} called ${programText}${instruction === null ? '' : ` (${instruction})`}`;
  if (isUntouched && hasAsides(asides)) return call;
  if (isUntouched) return `${call}; ${tip === 0n ? 'no SOL or token' : 'nothing but a tip'} changed hands`;
  const flows = flowsOf(interpretation, formatAddress);
  return flows.length === 0 ? `${call}; balances of other accounts changed` : [call, ...flows].join(' and ');
}

/** Tells what the actor gave and got. */
const flowsOf = ({ gained, lost }: CallInterpretation, formatAddress: FormatAddress): readonly string[] => [
  ...(lost.length > 0 ? [`gave ${formatAmounts(lost, formatAddress)}`] : []),
  ...(gained.length > 0 ? [`got ${formatAmounts(gained, formatAddress)}`] : []),
];

const hasAsides = ({ payments, authorityChange, hiddenTransfers }: Asides): boolean =>
  payments.length + hiddenTransfers.length > 0 || authorityChange !== null;
