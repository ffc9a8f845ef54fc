import type { Asides, CallInterpretation, Told } from '../analysis/interpretation.ts';
import { programName } from '../programs/known-programs.ts';
import { programPhrase } from './program-phrase.ts';
import { type FormatAddress, formatAccounts, formatAmounts } from './sentence-formats.ts';

const DEEDS: Readonly<Partial<Record<CallInterpretation['type'], string>>> = {
  QUOTE_UPDATE: 'wrote new prices',
  PLACE_ORDER: 'changed orders',
  ORACLE_UPDATE: 'updated an oracle',
};

/**
 * Describes a call by what its program is for, or by the program's name or address alone: the instruction's type if a
 * node or a table named one, and whether balances changed.
 */
export function describeCall(interpretation: Told<CallInterpretation>, formatAddress: FormatAddress): string {
  const { type, actor, program, payments } = interpretation;
  const deed = DEEDS[type];
  if (deed === undefined) return describeUnknownCall(interpretation, formatAddress);
  const paid =
    payments.length === 0
      ? ''
      : ` and sent ${formatAmounts(payments, formatAddress)} to ${formatAccounts(new Set(payments.map(({ to }) => to)), formatAddress)}`;
  return `${formatAddress(actor)} ${deed}${programPhrase(program, type === 'ORACLE_UPDATE' ? 'of' : 'on', formatAddress)}${paid}`;
}

function describeUnknownCall(
  { actor, program, instruction, gained, lost, isUntouched, tip, asides }: Told<CallInterpretation>,
  formatAddress: FormatAddress,
): string {
  if (program === null) return `${formatAddress(actor)} sent a transaction that does nothing`;
  const name = programName(program);
  const programText = name === null ? `the program ${formatAddress(program)}` : `the ${name} program`;
  const call = `${formatAddress(actor)} called ${programText}${instruction === null ? '' : ` (${instruction})`}`;
  if (isUntouched && hasAsides(asides)) return call;
  if (isUntouched) return `${call}; no SOL or token changed hands${tip === 0n ? '' : ' but a tip'}`;
  const flows = [
    lost.length > 0 ? `gave ${formatAmounts(lost, formatAddress)}` : null,
    gained.length > 0 ? `got ${formatAmounts(gained, formatAddress)}` : null,
  ].filter((flow) => flow !== null);
  return flows.length === 0 ? `${call}; balances of other accounts changed` : `${call} and ${flows.join(' and ')}`;
}

const hasAsides = ({ payments, authorityChange, hiddenTransfers }: Asides): boolean =>
  payments.length + hiddenTransfers.length > 0 || authorityChange !== null;
