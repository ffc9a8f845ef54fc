import { READ_METHODS } from '../../src/shared/domain/rpc-methods.ts';

/** Method names that must be refused, many of them close to an allowed one. */
export const REJECTED_METHOD_NAMES: readonly string[] = [
  'sendTransaction',
  'requestAirdrop',
  'simulateTransaction',
  'getProgramAccounts',
  'getGenesisHash',
  'getAgGenesisCert',
  'getMinimumBalanceForRentExemption',
  'no such method',
  '',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  ...READ_METHODS.flatMap((method) => [
    method.toLowerCase(),
    method.toUpperCase(),
    ` ${method}`,
    `${method} `,
    `${method}\n`,
    `${method}\0`,
    `${method}\u200b`,
    `\ufeff${method}`,
    method.replace('e', '\u0435'), // Cyrillic
    method.replace('t', '\uff54'), // full width
    method.normalize('NFKC').replace('g', 'g\u0301'),
  ]),
];

/** Builds bodies that name an allowed method in an invalid way: an empty batch, and names that are not text. */
export const malformedCalls = (method: string): readonly unknown[] => [
  [],
  { method: [method] },
  { method: [[method]] },
  { method: { toString: method } },
  { method: { 0: method, length: 1 } },
  { method: null },
  { method: true },
  { method: 7 },
  { Method: method },
  { 'method ': method },
  { METHOD: method },
  { params: [method] },
  { params: { method } },
  method,
  null,
];
