import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import { asBigInt, asObject } from '../codec/json-fields.ts';
import { programRole } from '../programs/known-programs.ts';
import {
  infoAddress,
  infoAmount,
  type NativeTransfer,
  type ParsedInstruction,
  type ParsedTransaction,
  type TokenTransfer,
} from './parsed-transaction.ts';

/** Where a transfer was made. */
export interface TransferOrigin {
  /** Position of the top-level instruction that made it; null if it is unclear which one did. */
  readonly step: number | null;
  /** The program of that instruction; null for Solana's own: then the transaction itself made the transfer. */
  readonly program: string | null;
  /** Who signed for it, as far as the instruction says so. */
  readonly authority: string | null;
}

const UNCLEAR: TransferOrigin = { step: null, program: null, authority: null };

/**
 * Returns the functions that find the top-level instruction of a transfer. Each instruction makes one transfer, so their
 * order distinguishes equal ones.
 */
export function originsOfTransfers(parsed: Pick<ParsedTransaction, 'instructions'>): {
  readonly nativeOrigin: (transfer: NativeTransfer) => TransferOrigin;
  readonly tokenOrigin: (transfer: TokenTransfer) => TransferOrigin;
} {
  const stepsByKey = new Map<
    string,
    { readonly made: { readonly step: number; readonly call: ParsedInstruction }[]; next: number }
  >();
  for (const [step, topLevel] of parsed.instructions.entries())
    for (const call of [topLevel, ...topLevel.innerInstructions]) {
      const key = keyOfCall(call);
      if (key === null) continue;
      const entry = stepsByKey.get(key);
      if (entry === undefined) stepsByKey.set(key, { made: [{ step, call }], next: 0 });
      else entry.made.push({ step, call });
    }
  const originOf = (key: string): TransferOrigin => {
    const entry = stepsByKey.get(key);
    const made = entry?.made[entry.next] ?? entry?.made.at(-1);
    if (entry === undefined || made === undefined) return UNCLEAR;
    entry.next += 1;
    const { step, call } = made;
    const authority = infoAddress(call, 'authority') ?? infoAddress(call, 'multisigAuthority');
    const program = parsed.instructions[step]?.programId ?? null;
    return { step, authority, program: program === null || programRole(program) === 'core' ? null : program };
  };
  return {
    nativeOrigin: ({ fromUserAccount, toUserAccount, amount }) =>
      originOf(`SOL ${fromUserAccount} ${toUserAccount} ${amount}`),
    tokenOrigin: ({ fromTokenAccount, toTokenAccount, amount }) =>
      originOf(`${fromTokenAccount} ${toTokenAccount} ${amount}`),
  };
}

/** Returns what an instruction and the transfer that it makes have in common; null if it makes none. */
function keyOfCall(call: ParsedInstruction): string | null {
  const { programId, type, info } = call;
  if (type === null || info === null) return null;
  if (programId === TOKEN_PROGRAM || programId === TOKEN_2022_PROGRAM) {
    const amount = asBigInt(info['amount']) ?? asBigInt(asObject(info['tokenAmount'])['amount']);
    if (amount === null) return null;
    if (type.startsWith('transfer'))
      return `${infoAddress(call, 'source')} ${infoAddress(call, 'destination')} ${amount}`;
    if (type.startsWith('mintTo')) return `null ${infoAddress(call, 'account')} ${amount}`;
    return type.startsWith('burn') ? `${infoAddress(call, 'account')} null ${amount}` : null;
  }
  const from = infoAddress(call, 'source');
  const to = infoAddress(call, 'newAccount') ?? infoAddress(call, 'destination');
  const lamports = infoAmount(call, 'lamports');
  return from === null || to === null || lamports === null ? null : `SOL ${from} ${to} ${lamports}`;
}
