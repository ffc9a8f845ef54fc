import bs58 from 'bs58';
import { CLOCK_SYSVAR } from '../../src/domain/well-known-addresses.ts';
import { TOKEN_PROGRAMS } from '../../src/solana/accounts/token-program-accounts.ts';
import type { EncodedAccount } from '../../src/upstream/reads/encoded-accounts.ts';

/** An address that nobody has the key of. */
export const addressFromByte = (n: number): string => bs58.encode(Buffer.alloc(32, n));

/** A token account, as it is stored. */
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

/** A mint, as it is stored. `interest` is in hundredths of a percent a year; with it the mint is one of token-2022. */
export function mintFixture(decimals: number, supply: number, interest?: number) {
  const data = Buffer.alloc(interest === undefined ? 82 : 166 + 4 + 52);
  data.writeBigUInt64LE(BigInt(supply), 36);
  data[44] = decimals;
  data[45] = 1; // initialized
  if (interest !== undefined) {
    data[165] = 1; // a mint
    data.writeUInt16LE(10, 166); // what follows is how it bears interest
    data.writeUInt16LE(52, 168);
    data.writeInt16LE(interest, 170 + 50);
  }
  const owner = TOKEN_PROGRAMS[interest === undefined ? 'spl-token' : 'spl-token-2022'];
  return { lamports: 1_461_600n, owner, executable: false, data };
}

/** The Clock at the beginning of time. */
export const CLOCK_ACCOUNT: EncodedAccount = { lamports: 1n, owner: addressFromByte(6), data: Buffer.alloc(40) };

/** An account that is there no more, as a notification tells it. */
export const CLOSED_ACCOUNT: EncodedAccount = { lamports: 0n, owner: addressFromByte(0), data: Buffer.alloc(0) };

/** An account in a node's JSON. */
export const accountJson = ({ lamports, owner, data }: EncodedAccount): string =>
  `{"lamports":${lamports},"owner":"${owner}","data":["${Buffer.from(data).toString('base64')}","base64"]}`;

/** Where a token account names its owner, or undefined for what is none. */
export const tokenOwner = ({ data }: EncodedAccount): string | undefined =>
  data.length === 165 ? bs58.encode(data.subarray(32, 64)) : undefined;

/** What a node with these accounts answers to the reads that a token list is made of. */
export function rpcResultOf(
  accounts: ReadonlyMap<string, EncodedAccount>,
  method: string,
  params: readonly any[],
): string {
  if (method === 'getMultipleAccounts') {
    const requested = (params[0] as string[]).map((address) =>
      address === CLOCK_SYSVAR ? CLOCK_ACCOUNT : accounts.get(address),
    );
    return `[${requested.map((account) => (account === undefined ? 'null' : accountJson(account))).join()}]`;
  }
  const [owner, { programId }] = params;
  const rows = [...accounts].filter(([, account]) => account.owner === programId && tokenOwner(account) === owner);
  return `[${rows.map(([address, account]) => `{"pubkey":"${address}","account":${accountJson(account)}}`).join()}]`;
}
