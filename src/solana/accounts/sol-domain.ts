import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import bs58 from 'bs58';
import { isZero } from '../codec/pod.ts';
import type { StoredAccount } from '../codec/stored-account.ts';
import { isOnCurve, programAddress } from './program-address.ts';
import { judgeRecordV1, judgeRecordV2, nameOwner } from './sol-record.ts';
import { decodeToken } from './token.ts';

const NAME_PROGRAM = 'namesLPneVptA9Z5rqUDD9tMTWEJwofgaYwp8cawRkX';
const TOKENIZER_PROGRAM = 'nftD3vbNkNqfj2Sd3HZwbpw4BxxKWr4AjGb9X38JeZk';

/** The account that all names ending in .sol hang under, and the class that marks records of version 2. */
const SOL_PARENT = bs58.decode('58PwtjSDuFHuUkYjH9BYnnQKHfwo9reZhC2zMJv9JPkx');
const RECORDS_CLASS = bs58.decode('2pMnqHvei2N5oDcVGCRdZx48gqti199wr5CsyTTafsbo');

const NONE = new Uint8Array(32);
const SUFFIX = '.sol';

/** What stands before a label below a name: a subdomain, a record of version 1, a record of version 2. */
const PREFIX = { subdomain: '\x00', recordV1: '\x01', recordV2: '\x02' } as const;

/** A name, and the four accounts that decide whose it is. */
export interface SolDomain {
  /** In lower case, with its suffix. */
  readonly name: string;
  readonly nameAccount: string;
  /** To be read together, at one slot, and handed to {@link resolveDomain} in this order. */
  readonly accounts: readonly [nftRecord: string, recordV1: string, recordV2: string, nameAccount: string];
}

/** Where a name leads, or whom to ask next: the holder of a wrapped name's only token is its owner. */
export type DomainStep =
  | { readonly step: 'resolved'; readonly address: string; readonly method: 'record-v2' | 'record-v1' | 'owner' }
  | { readonly step: 'holder'; readonly mint: string }
  | { readonly step: 'nowhere' };

const NOWHERE: DomainStep = { step: 'nowhere' };

/** The accounts of `label.sol` or `sub.label.sol`; the suffix may be left out. Undefined when it can't be a name. */
export function findDomain(text: string): SolDomain | undefined {
  const lower = text.toLowerCase();
  const labels = (lower.endsWith(SUFFIX) ? lower.slice(0, -SUFFIX.length) : lower).split('.');
  const [label, parent] = labels;
  if (label === undefined || labels.length > 2 || labels.includes('')) return undefined;
  const nameAccount =
    parent === undefined
      ? below(SOL_PARENT, label)
      : below(bs58.decode(below(SOL_PARENT, parent)), PREFIX.subdomain + label);
  const name = bs58.decode(nameAccount);
  return {
    name: labels.join('.') + SUFFIX,
    nameAccount,
    accounts: [
      programAddress(TOKENIZER_PROGRAM, ['nft_record', name]),
      below(name, `${PREFIX.recordV1}SOL`),
      below(name, `${PREFIX.recordV2}SOL`, RECORDS_CLASS),
      nameAccount,
    ],
  };
}

/** The address of the account that keeps `label` below a parent. */
function below(parent: Uint8Array, label: string, recordClass: Uint8Array = NONE): string {
  return programAddress(NAME_PROGRAM, [sha256(utf8ToBytes(`SPL Name Service${label}`)), recordClass, parent]);
}

/**
 * Where a name leads, from its four accounts (null for one that does not exist): the holder when it is wrapped, else
 * record version 2, else record version 1, else its owner if that is a person's key. The owner of a wrapped name is an
 * escrow and a program's address can't be paid like a person's: where those were all that is left, it leads nowhere.
 * The order: https://github.com/SolanaNameService/sns-sdk/blob/main/js/src/resolve/resolve.ts
 */
export function resolveDomain(domain: SolDomain, accounts: readonly (StoredAccount | null)[]): DomainStep {
  const [nftRecord, recordV1, recordV2, registry] = accounts;
  const owner = nameOwner(ownedBy(NAME_PROGRAM, registry));
  if (owner === undefined || isZero(owner)) return NOWHERE;

  if (ownedBy(TOKENIZER_PROGRAM, nftRecord)[0] === WRAPPED) return { step: 'holder', mint: nftMint(domain) };

  const newer = ownedBy(NAME_PROGRAM, recordV2);
  const newest = newer.length === 0 ? undefined : judgeRecordV2(newer, owner);
  if (newest?.verdict === 'refused') return NOWHERE;
  if (newest?.verdict === 'valid') return { step: 'resolved', address: newest.address, method: 'record-v2' };

  const oldest = judgeRecordV1(ownedBy(NAME_PROGRAM, recordV1), owner, domain.accounts[1]);
  if (oldest.verdict === 'valid') return { step: 'resolved', address: oldest.address, method: 'record-v1' };

  return isOnCurve(owner) ? { step: 'resolved', address: bs58.encode(owner), method: 'owner' } : NOWHERE;
}

/** What an NFT record says first when the name is wrapped. */
const WRAPPED = 2;

const nftMint = ({ nameAccount }: SolDomain): string =>
  programAddress(TOKENIZER_PROGRAM, ['tokenized_name', bs58.decode(nameAccount)]);

const EMPTY = new Uint8Array();

const ownedBy = (program: string, account: StoredAccount | null | undefined): Uint8Array =>
  account?.owner === program ? account.data : EMPTY;

/** Who holds a wrapped name, from the largest account of its mint; undefined when that does not hold its one token. */
export function domainHolder(mint: string, account: StoredAccount | null): string | undefined {
  const held = account === null ? undefined : decodeToken(account);
  return held?.type === 'account' && held.mint === mint && held.amount === 1n ? held.owner : undefined;
}
