import bs58 from 'bs58';
import type { EncodedAccount } from '../../src/gateway/upstream/reads/encoded-accounts.ts';
import { CLOCK_SYSVAR, METADATA_PROGRAM } from '../../src/shared/domain/well-known-addresses.ts';
import { TOKEN_PROGRAMS } from '../../src/transactions/accounts/token-program-accounts.ts';
import type { RpcParams } from './rpc-request.ts';

/** Returns an address without a private key. */
export const addressFromByte = (n: number): string => bs58.encode(Buffer.alloc(32, n));

export function tokenAccountFixture(
  owner: string,
  amount: number | bigint,
  mint: string,
  programId: string = TOKEN_PROGRAMS['spl-token'],
) {
  const data = Buffer.alloc(165);
  data.set(bs58.decode(mint), 0);
  data.set(bs58.decode(owner), 32);
  data.writeBigUInt64LE(BigInt(amount), 64);
  data[108] = 1; // initialized
  return { lamports: 2_039_280n, owner: programId, executable: false, data };
}

/** Builds a stored mint. `interest` is in hundredths of a percent a year and makes it a Token-2022 mint. */
export function mintFixture(decimals: number, supply: number, interest?: number) {
  const data = Buffer.alloc(interest === undefined ? 82 : 166 + 4 + 52);
  data.writeBigUInt64LE(BigInt(supply), 36);
  data[44] = decimals;
  data[45] = 1; // initialized
  if (interest !== undefined) {
    data[165] = 1; // a mint
    data.writeUInt16LE(10, 166); // extension: interest-bearing config
    data.writeUInt16LE(52, 168);
    data.writeInt16LE(interest, 170 + 50);
  }
  const owner = TOKEN_PROGRAMS[interest === undefined ? 'spl-token' : 'spl-token-2022'];
  return { lamports: 1_461_600n, owner, executable: false, data };
}

/** Returns a Token-2022 mint without decimals, with a name in itself. */
export function namedMintFixture(mint: string, name: string): EncodedAccount {
  const metadata = Buffer.concat([
    Buffer.alloc(32, 5), // the update authority
    bs58.decode(mint),
    ...[name, '', ''].map(prefixedText),
    Buffer.alloc(4), // no more fields
  ]);
  const header = Buffer.alloc(5);
  header[0] = 1; // a mint
  header.writeUInt16LE(19, 1); // extension: token metadata
  header.writeUInt16LE(metadata.length, 3);
  const base = Buffer.concat([mintFixture(0, 100).data], 165);
  return { lamports: 1n, owner: TOKEN_PROGRAMS['spl-token-2022'], data: Buffer.concat([base, header, metadata]) };
}

function prefixedText(value: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(Buffer.byteLength(value));
  return Buffer.concat([length, Buffer.from(value)]);
}

export function metadataFixture(mint: string, name: string, symbol: string, uri = ''): EncodedAccount {
  const data = Buffer.concat([
    Buffer.of(4), // the key of a metadata account
    Buffer.alloc(32, 5), // the update authority
    bs58.decode(mint),
    ...[name, symbol, uri].map(prefixedText),
    Buffer.alloc(5), // no royalties, no creators, no sale, not mutable
  ]);
  return { lamports: 1n, owner: METADATA_PROGRAM, data };
}

/** The Clock at time zero. */
export const CLOCK_ACCOUNT: EncodedAccount = { lamports: 1n, owner: addressFromByte(6), data: Buffer.alloc(40) };

/** A closed account, as a notification shows it. */
export const CLOSED_ACCOUNT: EncodedAccount = { lamports: 0n, owner: addressFromByte(0), data: Buffer.alloc(0) };

export const accountJson = ({ lamports, owner, data }: EncodedAccount): string =>
  `{"lamports":${lamports},"owner":"${owner}","data":["${Buffer.from(data).toString('base64')}","base64"]}`;

/** Reads the owner of a token account; undefined for other accounts. */
export const tokenOwner = ({ data }: EncodedAccount): string | undefined =>
  data.length === 165 ? bs58.encode(data.subarray(32, 64)) : undefined;

/** Returns the result of a node with these accounts for the reads of a token list. */
export function rpcResultOf(
  accounts: ReadonlyMap<string, EncodedAccount>,
  method: string,
  params: readonly unknown[],
): string {
  const [first, { programId }] = params as RpcParams; // as the gateway calls methods
  if (method === 'getMultipleAccounts') {
    const requested = first.map((address) => (address === CLOCK_SYSVAR ? CLOCK_ACCOUNT : accounts.get(address)));
    return `[${requested.map((account) => (account === undefined ? 'null' : accountJson(account))).join()}]`;
  }
  const owner: string = first;
  const rows = [...accounts].filter(([, account]) => account.owner === programId && tokenOwner(account) === owner);
  return `[${rows.map(([address, account]) => `{"pubkey":"${address}","account":${accountJson(account)}}`).join()}]`;
}
