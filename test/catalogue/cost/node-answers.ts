import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import type { EncodedAccount } from '../../../src/gateway/upstream/reads/encoded-accounts.ts';
import {
  METADATA_PROGRAM,
  STAKE_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../../src/shared/domain/well-known-addresses.ts';
import { STAKE_ACCOUNT_BYTES, WITHDRAWER_OFFSET } from '../../../src/transactions/accounts/stake-account.ts';
import type { RpcConfig, RpcParams } from '../../support/rpc-request.ts';
import {
  addressFromByte,
  metadataFixture,
  mintFixture,
  namedMintFixture,
  tokenAccountFixture,
} from '../../support/token-account-fixtures.ts';

/** What every address holds. */
export const ACCOUNT_TEMPLATES = ['absent', 'blob', 'mint', 'named mint', 'token account', 'metadata'] as const;

export type AccountTemplate = (typeof ACCOUNT_TEMPLATES)[number];

/** What long answers to `/rpc` are made of. */
export const FILLERS = ['digits', 'text', 'escapes', 'numbers', 'objects', 'texts', 'nesting', 'base58'] as const;

/** How the scripted node answers a method. Without one it forwards the call to a cluster. */
export type NodeAnswer =
  | {
      readonly kind: 'accounts';
      readonly template: AccountTemplate;
      readonly bytes: number;
    }
  | {
      readonly kind: 'token accounts';
      /** Accounts that an owner has, under both token programs together. */
      readonly rows: number;
      /** Different mints among them. */
      readonly mints: number;
    }
  | { readonly kind: 'largest accounts'; readonly rows: number }
  | { readonly kind: 'holders'; readonly rows: number }
  | { readonly kind: 'stake accounts'; readonly rows: number }
  | { readonly kind: 'signatures'; readonly rows: number; readonly memoBytes: number }
  /** JSON of a transaction; gets the requested signature. */
  | { readonly kind: 'transaction'; readonly json: string }
  | { readonly kind: 'block'; readonly rows: number; readonly json: string }
  | { readonly kind: 'filler'; readonly bytes: number; readonly of: (typeof FILLERS)[number] }
  | {
      readonly kind: 'error';
      readonly code: number;
      readonly messageBytes: number;
      readonly of: (typeof FILLERS)[number];
    };

export type NodeScript = Readonly<Record<string, NodeAnswer>>;

export const addressOf = (text: string): string => bs58.encode(createHash('sha256').update(text).digest());

export const signatureOf = (text: string): string => bs58.encode(createHash('sha512').update(text).digest());

const FILLER_PARTS: Readonly<Record<(typeof FILLERS)[number], readonly [begin: string, part: string, end: string]>> = {
  digits: ['', '9', ''],
  text: ['"', 'a', '"'],
  escapes: ['"', '\\u00e9', '"'],
  numbers: ['[0', ',18446744073709551615', ']'],
  objects: ['[{}', ',{"a":1}', ']'],
  texts: ['[""', ',"\\n"', ']'],
  nesting: ['', '[', ''],
  base58: ['"', 'z', '"'],
};

export function fillerJson(of: (typeof FILLERS)[number], bytes: number): string {
  const [begin, part, end] = FILLER_PARTS[of];
  const count = Math.max(0, Math.floor((bytes - begin.length - end.length) / part.length));
  if (of === 'nesting') return '['.repeat(Math.floor(bytes / 2)) + ']'.repeat(Math.floor(bytes / 2));
  return begin + part.repeat(of === 'digits' ? Math.max(1, count) : count) + end;
}

function accountAt(address: string, template: AccountTemplate, bytes: number): EncodedAccount | undefined {
  switch (template) {
    case 'absent':
      return undefined;
    case 'blob':
      return { lamports: 1n, owner: addressFromByte(7), data: Buffer.alloc(bytes, 0xa5) };
    case 'mint':
      return mintFixture(6, 1_000_000_000);
    case 'named mint':
      return namedMintFixture(address, 'n'.repeat(bytes));
    case 'token account':
      return tokenAccountFixture(addressOf(`owner of ${address}`), 1000, addressOf('a mint'));
    case 'metadata':
      return { ...metadataFixture(address, 'n'.repeat(bytes), 's'), owner: METADATA_PROGRAM };
  }
}

interface DataSlice {
  readonly offset: number;
  readonly length: number;
}

function accountText({ lamports, owner, data }: EncodedAccount, slice: DataSlice | undefined): string {
  const shown = slice === undefined ? data : data.subarray(slice.offset, slice.offset + slice.length);
  const text = Buffer.from(shown).toString('base64');
  return `{"lamports":${lamports},"owner":"${owner}","data":["${text}","base64"],"executable":false,"rentEpoch":0,"space":${data.length}}`;
}

/** JSON in parts, so that a long one is built and copied once. */
export type JsonParts = readonly (string | Buffer)[];

const inContext = (slot: number, value: string | Buffer): JsonParts => [
  `{"context":{"slot":${slot}},"value":`,
  value,
  '}',
];

/** Derives an address from another, faster than {@link addressOf}. */
function variantOf(address: string, i: number): string {
  const digits = i.toString(33).replace(/[0l]/g, 'Z');
  return address.slice(0, 8) + digits + address.slice(8 + digits.length);
}

function tokenAccountRows(owner: string, program: string, rows: number, mints: number): string {
  const account = tokenAccountFixture(owner, 1, addressOf(`mint of ${owner} ${program}`), program);
  const address = addressOf(`row of ${owner} ${program}`);
  const parts = Array.from({ length: rows }, (_, i) => {
    account.data.writeUInt32BE(i % Math.max(1, mints), 8); // the mint
    return `{"pubkey":"${variantOf(address, i)}","account":${accountText(account, undefined)}}`;
  });
  return `[${parts.join()}]`;
}

function holderRows(rows: number): string {
  const address = Buffer.alloc(32, 9);
  const data = Buffer.alloc(40, 3);
  const parts = Array.from({ length: rows }, (_, i) => {
    address.writeUInt32BE(i, 4);
    data.writeUInt32LE(1 + ((i * 2_654_435_761) >>> 0), 32);
    const text = data.toString('base64');
    return `{"pubkey":"${bs58.encode(address)}","account":{"lamports":2039280,"data":["${text}","base64"],"owner":"${TOKEN_PROGRAM}","executable":false,"rentEpoch":0,"space":165}}`;
  });
  return `[${parts.join()}]`;
}

/** Where the filter of a program scan names the account that it looks for. */
const withdrawerIn = ({ filters = [] }: RpcConfig): string => filters.find(({ memcmp }) => memcmp)?.memcmp?.bytes ?? '';

function stakeRows(withdrawer: string, rows: number): string {
  const data = Buffer.alloc(STAKE_ACCOUNT_BYTES, 3);
  data.writeUInt32LE(2, 0); // delegated
  data.set(bs58.decode(withdrawer), WITHDRAWER_OFFSET);
  const account = accountText({ lamports: 1_000_000_000n, owner: STAKE_PROGRAM, data }, undefined);
  const address = addressOf(`stake of ${withdrawer}`);
  const parts = Array.from({ length: rows }, (_, i) => `{"pubkey":"${variantOf(address, i)}","account":${account}}`);
  return `[${parts.join()}]`;
}

const signatureRows = (subject: string, slot: number, rows: number, memoBytes: number): string =>
  `[${Array.from(
    { length: rows },
    (_, i) =>
      `{"signature":"${signatureOf(`${i} of ${subject}`)}","slot":${slot - 40 - i},"err":null,"memo":${memoBytes === 0 ? 'null' : fillerJson('text', memoBytes)},"blockTime":1700000000,"confirmationStatus":"finalized"}`,
  ).join()}]`;

/** The built texts that don't depend on the slot; some take long to build. */
const built = new Map<string, Buffer>();
const MAX_BUILT = 50;

function onceBuilt(key: string, build: () => string): Buffer {
  const bytes = built.get(key) ?? Buffer.from(build());
  if (built.size > MAX_BUILT) built.clear();
  built.set(key, bytes);
  return bytes;
}

export interface ScriptedCall {
  readonly method: string;
  readonly params: RpcParams;
  readonly slot: number;
  /** JSON of accounts that are as the cluster has them. */
  readonly own: ReadonlyMap<string, string>;
}

/** Returns the `result` of a scripted answer; null for one that has none. */
export function scriptedResult(answer: NodeAnswer, { method, params, slot, own }: ScriptedCall): JsonParts {
  const key = JSON.stringify([answer, method, params[0]]);
  switch (answer.kind) {
    case 'accounts': {
      const { template, bytes } = answer;
      const { dataSlice } = params[1] ?? {};
      const partAt = (address: string): string | Buffer => {
        const ofTheCluster = own.get(address);
        if (ofTheCluster !== undefined) return ofTheCluster;
        const textAt = (): string => {
          const account = accountAt(address, template, bytes);
          return account === undefined ? 'null' : accountText(account, dataSlice);
        };
        // the only one that can be long, and the same at each address
        return template === 'blob' ? onceBuilt(`${bytes} ${JSON.stringify(dataSlice)}`, textAt) : textAt();
      };
      if (!Array.isArray(params[0])) return inContext(slot, partAt(params[0]));
      const list = params[0].flatMap((address, i) => [i === 0 ? '[' : ',', partAt(address)]);
      const [begin, end] = inContext(slot, '').filter((part) => part !== '');
      return [begin ?? '', ...list, params[0].length === 0 ? '[]' : ']', end ?? ''];
    }
    case 'token accounts': {
      const [owner, { programId = TOKEN_PROGRAM } = {}] = params;
      const half = (count: number): number => (count + (programId === TOKEN_2022_PROGRAM ? 1 : 0)) >> 1;
      const value = onceBuilt(`${key} ${programId}`, () =>
        tokenAccountRows(owner, programId, half(answer.rows), half(answer.mints)),
      );
      return inContext(slot, value);
    }
    case 'largest accounts':
      return inContext(
        slot,
        `[${Array.from({ length: answer.rows }, (_, i) => `{"address":"${addressOf(`largest ${i}`)}","amount":"${1_000_000 - i}","decimals":6,"uiAmount":1,"uiAmountString":"1"}`).join()}]`,
      );
    case 'holders':
      return inContext(
        slot,
        onceBuilt(JSON.stringify(answer), () => holderRows(answer.rows)),
      );
    case 'stake accounts': {
      const withdrawer = withdrawerIn(params[1] ?? {});
      return inContext(
        slot,
        onceBuilt(`${key} ${withdrawer}`, () => stakeRows(withdrawer, answer.rows)),
      );
    }
    case 'signatures':
      return [
        signatureRows(String(params[0]), slot, Math.min(answer.rows, params[1]?.limit ?? 1000), answer.memoBytes),
      ];
    case 'transaction':
      return [answer.json.replaceAll(SIGNATURE_PLACE, String(params[0]))];
    case 'block': {
      const head = `{"blockhash":"${addressOf('hash')}","previousBlockhash":"${addressOf('previous')}","parentSlot":${Number(params[0]) - 1},"blockHeight":1,"blockTime":1700000000,"rewards":[],"transactions":`;
      const list = (): string => `[${Array.from({ length: answer.rows }, () => answer.json).join()}]`;
      return [head, onceBuilt(`${answer.rows} ${answer.json}`, list), '}'];
    }
    case 'filler':
      return [onceBuilt(`${answer.of} ${answer.bytes}`, () => fillerJson(answer.of, answer.bytes))];
    default:
      return ['null'];
  }
}

/** Stands for the signature in a transaction. */
export const SIGNATURE_PLACE = '$signature';
