import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import bs58 from 'bs58';
import type { RawAccount } from '../codec/raw-account.ts';
import { isAllZero } from '../codec/spl-pod.ts';
import { addressBytes } from './address-bytes.ts';
import { findProgramAddress, isOnCurve } from './program-derived-address.ts';
import { nameOwnerOf, validateRecordV1, validateRecordV2 } from './sol-name-record.ts';

const NAME_PROGRAM = 'namesLPneVptA9Z5rqUDD9tMTWEJwofgaYwp8cawRkX';
const TOKENIZER_PROGRAM = 'nftD3vbNkNqfj2Sd3HZwbpw4BxxKWr4AjGb9X38JeZk';

/** The name account above all .sol names, and the class of version 2 records. */
const SOL_PARENT = bs58.decode('58PwtjSDuFHuUkYjH9BYnnQKHfwo9reZhC2zMJv9JPkx');
const RECORDS_CLASS = bs58.decode('2pMnqHvei2N5oDcVGCRdZx48gqti199wr5CsyTTafsbo');

const NO_CLASS = new Uint8Array(32);
const SUFFIX = '.sol';

/** Prefixes of the label of a subdomain, of a version 1 record and of a version 2 record. */
const LABEL_PREFIX = { subdomain: '\x00', recordV1: '\x01', recordV2: '\x02' } as const;

/** A .sol name and the four accounts that decide its owner. */
export interface SolDomain {
  /** The name in lower case, with its suffix. */
  readonly name: string;
  readonly nameAccount: string;
  /** The accounts to read at one slot, in the order that {@link resolveDomain} expects. */
  readonly accounts: readonly [nftRecord: string, recordV1: string, recordV2: string, nameAccount: string];
}

/** The result for a name. `holder`: the name is wrapped as an NFT, and the holder of its single token is the owner. */
export type DomainResolution =
  | { readonly status: 'resolved'; readonly address: string; readonly method: 'record-v2' | 'record-v1' | 'owner' }
  | { readonly status: 'holder'; readonly mint: string }
  | { readonly status: 'unresolved' };

const UNRESOLVED: DomainResolution = { status: 'unresolved' };

/** Derives the accounts of `label.sol` or `sub.label.sol`; the suffix is optional. Undefined if the text is not a name. */
export function parseSolDomain(text: string): SolDomain | undefined {
  const lowercase = text.toLowerCase();
  const labels = (lowercase.endsWith(SUFFIX) ? lowercase.slice(0, -SUFFIX.length) : lowercase).split('.');
  const [label, parent] = labels;
  if (label === undefined || labels.length > 2 || labels.includes('')) return undefined;
  const nameAccount =
    parent === undefined
      ? findNameAddress(SOL_PARENT, label)
      : findNameAddress(bs58.decode(findNameAddress(SOL_PARENT, parent)), LABEL_PREFIX.subdomain + label);
  const name = addressBytes(nameAccount);
  return {
    name: labels.join('.') + SUFFIX,
    nameAccount,
    accounts: [
      findProgramAddress(TOKENIZER_PROGRAM, ['nft_record', name]),
      findNameAddress(name, `${LABEL_PREFIX.recordV1}SOL`),
      findNameAddress(name, `${LABEL_PREFIX.recordV2}SOL`, RECORDS_CLASS),
      nameAccount,
    ],
  };
}

/** Derives the name account of `label` under a parent. */
function findNameAddress(parent: Uint8Array, label: string, recordClass: Uint8Array = NO_CLASS): string {
  return findProgramAddress(NAME_PROGRAM, [sha256(utf8ToBytes(`SPL Name Service${label}`)), recordClass, parent]);
}

/**
 * Resolves a name from its four accounts (null for a missing one): to the holder if it is wrapped, else to its version
 * 2 record, else to its version 1 record, else to its owner if that is on the curve. The owner of a wrapped name is an
 * escrow, and a program's address can't be paid like a wallet: in these cases the name is unresolved.
 * The order: https://github.com/SolanaNameService/sns-sdk/blob/main/js/src/resolve/resolve.ts
 */
export function resolveDomain(domain: SolDomain, accounts: readonly (RawAccount | null)[]): DomainResolution {
  const [nftRecord, recordV1, recordV2, nameAccount] = accounts;
  const owner = nameOwnerOf(dataIfOwnedBy(NAME_PROGRAM, nameAccount));
  if (owner === undefined || isAllZero(owner)) return UNRESOLVED;

  if (dataIfOwnedBy(TOKENIZER_PROGRAM, nftRecord)[0] === WRAPPED_NFT_RECORD)
    return { status: 'holder', mint: findNameNftMint(domain) };

  const recordV2Data = dataIfOwnedBy(NAME_PROGRAM, recordV2);
  const recordV2Verdict = recordV2Data.length === 0 ? undefined : validateRecordV2(recordV2Data, owner);
  if (recordV2Verdict?.verdict === 'refused') return UNRESOLVED;
  if (recordV2Verdict?.verdict === 'valid')
    return { status: 'resolved', address: recordV2Verdict.address, method: 'record-v2' };

  const recordV1Verdict = validateRecordV1(dataIfOwnedBy(NAME_PROGRAM, recordV1), owner, domain.accounts[1]);
  if (recordV1Verdict.verdict === 'valid')
    return { status: 'resolved', address: recordV1Verdict.address, method: 'record-v1' };

  return isOnCurve(owner) ? { status: 'resolved', address: bs58.encode(owner), method: 'owner' } : UNRESOLVED;
}

/** The first byte of the NFT record of a wrapped name. */
const WRAPPED_NFT_RECORD = 2;

const findNameNftMint = ({ nameAccount }: SolDomain): string =>
  findProgramAddress(TOKENIZER_PROGRAM, ['tokenized_name', addressBytes(nameAccount)]);

const NO_DATA = new Uint8Array();

const dataIfOwnedBy = (program: string, account: RawAccount | null | undefined): Uint8Array =>
  account?.owner === program ? account.data : NO_DATA;
