import { findAddressWithSeed } from '../accounts/program-derived-address.ts';
import { asBigInt, asDecimals, asObject, asString } from '../codec/json-fields.ts';
import type { Instruction } from '../transactions/instruction.ts';
import { type ParsedInfo, signerOf } from '../transactions/instruction-layout.ts';
import type { Transaction } from '../transactions/transaction.ts';
import type { CurrentBalances } from './transfer-ledger.ts';

/**
 * Kinds of authority changes. `setAuthority`: a right passes to another holder, or nobody; `initializeAuthority`: a new
 * mint gives somebody a right over all its tokens, or a new stake, vote or nonce account one over what is in it; `assign`: an account of a wallet is given to a program.
 */
export const AUTHORITY_CHANGE_KINDS = [
  'setAuthority',
  'initializeAuthority',
  'approve',
  'revoke',
  'freeze',
  'thaw',
  'freezeNewAccounts',
  'thawNewAccounts',
  'pause',
  'resume',
  'setLockup',
  'assign',
  'upgradeProgram',
] as const;

/** A change of the right to dispose of an account, a mint, a stake or a program, with what is at stake. */
export interface AuthorityChange {
  readonly kind: (typeof AUTHORITY_CHANGE_KINDS)[number];
  /**
   * The right, for the first two kinds: a token program's as nodes name it (`accountOwner`, `mintTokens`), `staker`,
   * `withdrawer`, `voter`, `nonce`, `upgrade`, `lookupTable`, `metadata` or `group`; else null.
   */
  readonly authorityType: string | null;
  readonly programId: string;
  /** The token account, mint, stake, vote or nonce account, program data, buffer, table or wallet. */
  readonly account: string;
  /** The mint of a token account, or the mint itself. */
  readonly mint: string | null;
  /** The owner of the token account before the change; null if there is none, or if it is not recorded. */
  readonly owner: string | null;
  /** The holder before; null if there was none, or if no record names it. */
  readonly from: string | null;
  /** The new holder, delegate or program; null if there is none. */
  readonly to: string | null;
  /** The account that signed for it. */
  readonly authority: string | null;
  /** Approved amount in smallest units. */
  readonly amount: string | null;
  /** Tokens in the account at that time, in smallest units. */
  readonly tokenBalance: string | null;
  readonly decimals: number | null;
  /** Lamports in the account at that time; null for token accounts and mints. */
  readonly lamports: string | null;
  /** What a lock-up changes to: Unix seconds and an epoch, null for one that stays. */
  readonly lockup: { readonly unixTimestamp: string | null; readonly epoch: string | null } | null;
  readonly instructionIdx: number;
  readonly innerInstructionIdx: number | null;
}

/** The part of a change that its instruction says. */
interface Change
  extends Pick<AuthorityChange, 'kind' | 'account'>,
    Partial<Pick<AuthorityChange, 'authorityType' | 'mint' | 'from' | 'to' | 'authority' | 'amount' | 'lockup'>> {
  readonly decimals?: number | null;
}

type ReadChange = (info: ParsedInfo) => Change | null;

/** Returns a change of an account that the instruction names, with more that `read` returns. */
const changeOf =
  (kind: Change['kind'], accountName: string, read: (info: ParsedInfo) => Partial<Change> = () => ({})): ReadChange =>
  (info) => {
    const account = asString(info[accountName]);
    return account === null ? null : { kind, account, ...read(info) };
  };

/** Returns the passing of a right, of which only the holder can sign. */
const passRight = (authorityType: string, accountName: string, signer: string, to: string): ReadChange =>
  changeOf('setAuthority', accountName, (info) => {
    const authority = signerOf(info, signer);
    return { authorityType, from: authority, to: asString(info[to]), authority };
  });

/** Returns a right that a new mint gives. */
const giveRight = (authorityType: string, to: string): ReadChange =>
  changeOf('initializeAuthority', 'mint', (info) => ({
    authorityType,
    mint: asString(info['mint']),
    to: asString(info[to]),
  }));

/**
 * Returns the passing of a right over a stake or vote account. The withdrawer can also replace the other holder, so that
 * the signer of that change may not be the one before.
 */
const passStakeRight =
  (accountName: string, to: string, authorityOf: (info: ParsedInfo) => string | null): ReadChange =>
  (info) => {
    const type = asString(info['authorityType']) ?? Object.keys(asObject(info['authorityType']))[0] ?? '';
    const authorityType = { Staker: 'staker', Withdrawer: 'withdrawer', Voter: 'voter', VoterWithBLS: 'voter' }[type];
    const [account, authority] = [asString(info[accountName]), authorityOf(info)];
    if (account === null) return null;
    return {
      kind: 'setAuthority',
      account,
      authorityType: authorityType ?? null,
      from: authorityType === 'withdrawer' ? authority : null,
      to: asString(info[to]),
      authority,
    };
  };

const namedAuthority = (info: ParsedInfo): string | null => asString(info['authority']);

/** Returns the authority that is derived from a base address, which signs for it. */
const seededAuthority =
  (baseName: string) =>
  (info: ParsedInfo): string | null => {
    const [base, seed, owner] = [info[baseName], info['authoritySeed'], info['authorityOwner']].map(asString);
    if (typeof base !== 'string' || typeof seed !== 'string' || typeof owner !== 'string') return null;
    try {
      return findAddressWithSeed(base, seed, owner);
    } catch {
      return null; // no address of the record
    }
  };

const approveChange = changeOf('approve', 'source', (info) => {
  const { amount, decimals } = asObject(info['tokenAmount']);
  const approved = asBigInt(info['amount']) ?? asBigInt(amount);
  return {
    mint: asString(info['mint']),
    to: asString(info['delegate']),
    authority: signerOf(info, 'owner'),
    amount: approved === null ? null : `${approved}`,
    decimals: asDecimals(decimals),
  };
});

/** A new stake, vote or nonce account is in the hands of those that its instruction names. */
const holdRight = (authorityType: string, accountName: string, holderOf: (info: ParsedInfo) => unknown): ReadChange =>
  changeOf('initializeAuthority', accountName, (info) => ({ authorityType, to: asString(holderOf(info)) }));

const freezeChange = (kind: 'freeze' | 'thaw'): ReadChange =>
  changeOf(kind, 'account', (info) => ({ mint: asString(info['mint']), authority: signerOf(info, 'freezeAuthority') }));

const pauseChange = (kind: 'pause' | 'resume'): ReadChange =>
  changeOf(kind, 'mint', (info) => ({ mint: asString(info['mint']), authority: signerOf(info, 'authority') }));

const setAuthorityChange: ReadChange = (info) => {
  const [mint, account] = [asString(info['mint']), asString(info['account'])];
  const authority = signerOf(info, 'authority');
  const authorityType = asString(info['authorityType']);
  const subject = account ?? mint;
  if (subject === null) return null;
  return {
    kind: 'setAuthority',
    account: subject,
    authorityType,
    mint,
    from: authority,
    to: asString(info['newAuthority']),
    authority,
  };
};

const lockupChange = changeOf('setLockup', 'stakeAccount', (info) => {
  const { unixTimestamp, epoch, custodian } = asObject(info['lockup']);
  const authority = asString(info['custodian']);
  const text = (value: unknown): string | null => (asBigInt(value) === null ? null : `${asBigInt(value)}`);
  return { to: asString(custodian), authority, lockup: { unixTimestamp: text(unixTimestamp), epoch: text(epoch) } };
});

/** An account passes to a program. It counts only if it had something, so not if it was just opened. */
const assignChange = changeOf('assign', 'account', (info) => ({
  to: asString(info['owner']),
  authority: asString(info['base']) ?? asString(info['account']),
}));

const CHANGE_READERS: Readonly<Record<string, ReadChange>> = {
  'spl-token setAuthority': setAuthorityChange,
  'spl-token approve': approveChange,
  'spl-token approveChecked': approveChange,
  'spl-token revoke': changeOf('revoke', 'source', (info) => ({ authority: signerOf(info, 'owner') })),
  'spl-token freezeAccount': freezeChange('freeze'),
  'spl-token thawAccount': freezeChange('thaw'),
  'spl-token pause': pauseChange('pause'),
  'spl-token resume': pauseChange('resume'),
  'spl-token initializeMintCloseAuthority': giveRight('closeMint', 'newAuthority'),
  'spl-token initializePermanentDelegate': giveRight('permanentDelegate', 'delegate'),
  'spl-token updateDefaultAccountState': (info) =>
    changeOf(info['accountState'] === 'frozen' ? 'freezeNewAccounts' : 'thawNewAccounts', 'mint', () => ({
      mint: asString(info['mint']),
      authority: signerOf(info, 'freezeAuthority'),
    }))(info),
  'spl-token updateTokenMetadataAuthority': passRight('metadata', 'metadata', 'updateAuthority', 'newAuthority'),
  'spl-token updateTokenGroupAuthority': passRight('group', 'group', 'updateAuthority', 'newAuthority'),
  'stake initialize': holdRight('withdrawer', 'stakeAccount', ({ authorized }) => asObject(authorized)['withdrawer']),
  'stake initializeChecked': holdRight('withdrawer', 'stakeAccount', ({ withdrawer }) => withdrawer),
  'vote initialize': holdRight('withdrawer', 'voteAccount', ({ authorizedWithdrawer }) => authorizedWithdrawer),
  'vote initializeV2': holdRight('withdrawer', 'voteAccount', ({ authorizedWithdrawer }) => authorizedWithdrawer),
  'system initializeNonce': holdRight('nonce', 'nonceAccount', ({ nonceAuthority }) => nonceAuthority),
  'stake authorize': passStakeRight('stakeAccount', 'newAuthority', namedAuthority),
  'stake authorizeChecked': passStakeRight('stakeAccount', 'newAuthority', namedAuthority),
  'stake authorizeWithSeed': passStakeRight('stakeAccount', 'newAuthorized', seededAuthority('authorityBase')),
  'stake authorizeCheckedWithSeed': passStakeRight('stakeAccount', 'newAuthorized', seededAuthority('authorityBase')),
  'stake setLockup': lockupChange,
  'stake setLockupChecked': lockupChange,
  'vote authorize': passStakeRight('voteAccount', 'newAuthority', namedAuthority),
  'vote authorizeChecked': passStakeRight('voteAccount', 'newAuthority', namedAuthority),
  'vote authorizeWithSeed': passStakeRight('voteAccount', 'newAuthority', seededAuthority('authorityBaseKey')),
  'vote authorizeCheckedWithSeed': passStakeRight('voteAccount', 'newAuthority', seededAuthority('authorityBaseKey')),
  'system authorizeNonce': passRight('nonce', 'nonceAccount', 'nonceAuthority', 'newAuthorized'),
  'system assign': assignChange,
  'system assignWithSeed': assignChange,
  'bpf-upgradeable-loader setAuthority': passRight('upgrade', 'account', 'authority', 'newAuthority'),
  'bpf-upgradeable-loader setAuthorityChecked': passRight('upgrade', 'account', 'authority', 'newAuthority'),
  'bpf-upgradeable-loader upgrade': changeOf('upgradeProgram', 'programAccount', (info) => ({
    authority: asString(info['authority']),
  })),
  'loader-v4 transferAuthority': passRight('upgrade', 'programAccount', 'authority', 'newAuthority'),
  'loader-v4 finalize': passRight('upgrade', 'programAccount', 'authority', ''),
  'address-lookup-table freezeLookupTable': passRight('lookupTable', 'lookupTableAccount', 'lookupTableAuthority', ''),
};

/** Returns a function that reads the authority change of an instruction, with the balances right before it. */
export function authorityChangeReader(
  transaction: Transaction,
): (call: Instruction, balances: CurrentBalances) => AuthorityChange | null {
  const { accounts, preBalances } = transaction;
  const funded = new Set(accounts.flatMap(({ address }, index) => ((preBalances[index] ?? 0n) > 0n ? [address] : [])));
  const signers = new Set(accounts.filter(({ signer }) => signer).map(({ address }) => address));
  return (call, balances) => {
    const { program, programId, parsed, index, innerIndex } = call;
    const change = parsed === null ? null : (CHANGE_READERS[`${program} ${parsed.type}`]?.(parsed.info) ?? null);
    if (change === null) return null;
    const { kind, account, authority = null } = change;
    if (kind === 'assign' && !(funded.has(account) && signers.has(authority ?? ''))) return null;
    const tokenAccount = program === 'spl-token' ? balances.tokenAccountOf(account) : null;
    const mint = change.mint ?? tokenAccount?.mint ?? null;
    const ownsTokens = change.authorityType === 'accountOwner';
    return {
      kind,
      authorityType: change.authorityType ?? null,
      programId,
      account,
      mint,
      owner: tokenAccount?.owner ?? (ownsTokens || kind === 'approve' || kind === 'revoke' ? authority : null),
      from: (ownsTokens ? tokenAccount?.owner : null) ?? change.from ?? null,
      to: change.to ?? null,
      authority,
      amount: change.amount ?? null,
      tokenBalance: tokenAccount === null ? null : `${tokenAccount.amount}`,
      decimals: change.decimals ?? (mint === null ? null : balances.decimalsOf(mint)),
      lamports: mint === null && preBalances.length > 0 ? `${balances.lamportsOf(account)}` : null,
      lockup: change.lockup ?? null,
      instructionIdx: index,
      innerInstructionIdx: innerIndex,
    };
  };
}
