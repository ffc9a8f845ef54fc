import { createHash } from 'node:crypto';
import { parseExactJson } from '../../../src/shared/domain/parse-exact-json.ts';
import { READ_METHODS } from '../../../src/shared/domain/rpc-methods.ts';
import { toJson } from '../../../src/shared/domain/to-json.ts';
import { enhanceTransaction } from '../../../src/transactions/explain/enhanced-transaction.ts';
import { normalizeTransaction } from '../../../src/transactions/records/transaction.ts';
import { readRecordings } from '../../support/recorded-transactions.ts';
import {
  type CostFamily,
  costFamily,
  type FamilyValues,
  type Occasion,
  PIPELINE_METHODS,
  type Values,
} from './cost-family.ts';
import { DocumentGrowth, type DocumentGrowthOptions } from './json-growth.ts';
import {
  ACCOUNT_TEMPLATES,
  addressOf,
  FILLERS,
  fillerJson,
  type NodeAnswer,
  type NodeScript,
  SIGNATURE_PLACE,
  signatureOf,
} from './node-answers.ts';
import type { CostlyRequest } from './send-attempt.ts';

const EXPLAIN_BYTES = 262_144;
const RPC_BYTES = 65_536;
/** Largest transaction that the node answers with: several times what logs and instructions of real ones take. */
const TRANSACTION_BYTES = 262_144;
/** Largest block that the node answers with: several times mainnet's, and half as much again as the gateway reads. */
const MAX_BLOCK_BYTES = 48 << 20;
const MAX_ACCOUNT_BYTES = 10_485_760;

const REQUEST_DIMENSIONS = {
  commitments: [1, 2, 3, 4],
  repeats: [1, 2, 4],
  simultaneous: [0, 1],
  nonce: [0, 1],
  minSlot: ['none', 'old', 'tip', 'tip+5', 'far'],
  encoding: ['none', 'gzip', 'br'],
  headerBytes: [0, 1000, 3500],
  caching: ['none', '*', 'many tags'],
} as const;

const ACCOUNT_DIMENSIONS = {
  template: ['token account', ...ACCOUNT_TEMPLATES],
  bytes: [32, 0, 200, 1000, 10_000, 100_000, 1_000_000, 4_000_000, MAX_ACCOUNT_BYTES],
} as const;

const FAILURE_DIMENSIONS = {
  failure: [0, -32002, -32005, -32010, -32016, -32601, -32602, -32603],
  messageBytes: [20, 1000, 100_000, 5_000_000],
} as const;

const COMMITMENTS = ['', 'processed', 'confirmed', 'finalized'];
const OLD_SLOT = 1;

/** Builds the headers that the dimensions of a GET route say. */
function headersOf(values: Values, { salt, tip }: Occasion, i: number): Record<string, string> {
  const { nonce, minSlot, encoding, headerBytes, caching } = values;
  const slots: Record<string, number> = { old: OLD_SLOT, tip, 'tip+5': tip + 5, far: tip + 1000 };
  return {
    ...(nonce === 1 && { 'x-receipt-nonce': addressOf(`nonce ${salt} ${i}`).slice(0, 22) }),
    ...(minSlot !== 'none' && { 'x-min-slot': String(slots[String(minSlot)]) }),
    ...(encoding !== 'none' && { 'accept-encoding': String(encoding) }),
    ...(Number(headerBytes) > 0 && { 'x-other': 'a'.repeat(Number(headerBytes)) }),
    ...(caching === '*' && { 'if-none-match': '*' }),
    ...(caching === 'many tags' && { 'if-none-match': Array(150).fill('"abcdefghijklmnopqrst"').join() }),
  };
}

/** Builds the GET requests for a path: with each spelling of the commitment, repeated. */
function getRequests(path: string, query: string, values: Values, occasion: Occasion): CostlyRequest[] {
  return COMMITMENTS.slice(0, Number(values['commitments'])).flatMap((commitment) =>
    Array.from({ length: Number(values['repeats']) }, (_, i) => {
      const whole = queryOf(query, commitment === '' ? '' : `commitment=${commitment}`);
      return {
        target: `${path}${whole === '' ? '' : `?${whole}`}`,
        headers: headersOf(values, occasion, i),
      };
    }),
  );
}

/** Joins parameters, of which some may be left out. */
const queryOf = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join('&');

const accountsAnswer = ({ template, bytes }: Pick<FamilyValues, 'template' | 'bytes'>): NodeAnswer => ({
  kind: 'accounts',
  template,
  bytes,
});

const failureOr = (
  { failure, messageBytes = 0 }: Pick<Partial<FamilyValues>, 'failure' | 'messageBytes'>,
  answer: NodeAnswer,
): NodeAnswer =>
  failure === undefined || failure === 0 ? answer : { kind: 'error', code: failure, messageBytes, of: 'text' };

const accountsScript = (values: Pick<FamilyValues, 'template' | 'bytes' | 'failure'>): NodeScript => ({
  getMultipleAccounts: failureOr(values, accountsAnswer(values)),
  getAccountInfo: failureOr(values, accountsAnswer(values)),
});

const accountFamily = (
  path: string,
  query: (values: FamilyValues) => string = () => '',
  more: object = {},
): CostFamily =>
  costFamily({
    route: path,
    dimensions: { ...ACCOUNT_DIMENSIONS, ...REQUEST_DIMENSIONS, ...FAILURE_DIMENSIONS, ...more },
    attempt: (values, occasion) => ({
      requests: getRequests(path.replace(/:\w+/, addressOf(occasion.salt)), query(values), values, occasion),
      script: accountsScript(values),
      isSimultaneous: values.simultaneous === 1,
    }),
  });

const ownerFamily = (path: string, more: object = {}, query: (values: FamilyValues) => string = () => ''): CostFamily =>
  costFamily({
    route: path,
    weight: 3,
    dimensions: {
      rows: [2, 0, 20, 200, 1000, 2000, 4000, 9990, 20_000],
      mints: ['as many', 1, 10, 100, 1000],
      template: ['mint', ...ACCOUNT_TEMPLATES],
      bytes: [32, 200, 1000, 10_000],
      ...more,
      ...REQUEST_DIMENSIONS,
      ...FAILURE_DIMENSIONS,
    },
    attempt: (values, occasion) => ({
      requests: getRequests(path.replace(/:\w+/, addressOf(occasion.salt)), query(values), values, occasion),
      script: {
        getTokenAccountsByOwner: failureOr(values, {
          kind: 'token accounts',
          rows: values.rows,
          mints: values.mints === 'as many' ? values.rows : Math.min(values.rows, values.mints),
        }),
        ...(values.stakes !== undefined && {
          getProgramAccounts: failureOr(values, { kind: 'stake accounts', rows: values.stakes }),
        }),
        getMultipleAccounts: accountsAnswer(values),
      },
      isSimultaneous: values.simultaneous === 1,
    }),
  });

const holdersFamily = costFamily({
  route: '/token/:mint/holders',
  weight: 3,
  dimensions: {
    page: [1, 2, 3, 100_000],
    by: ['', 'owner'],
    rows: [30, 1000, 20_000, 100_000, 210_000, 300_000],
    largest: [20, 0, 5],
    template: ['mint', ...ACCOUNT_TEMPLATES],
    bytes: [32, 1000],
    ...REQUEST_DIMENSIONS,
    commitments: [1],
    ...FAILURE_DIMENSIONS,
  },
  attempt: (values, occasion) => {
    const path = `/token/${addressOf(occasion.salt)}/holders`;
    const page = values.page === 1 ? '' : `page=${values.page}`;
    return {
      requests: getRequests(path, queryOf(values.by === '' ? '' : 'by=owner', page), values, occasion),
      script: {
        getMultipleAccounts: accountsAnswer(values),
        getTokenLargestAccounts: { kind: 'largest accounts', rows: values.largest },
        getProgramAccounts: failureOr(values, { kind: 'holders', rows: values.rows }),
      },
      isSimultaneous: values.simultaneous === 1,
    };
  },
});

/** Longest recorded transaction to begin with: long ones leave no room to grow. */
const MAX_SEED_BYTES = 16_000;
const ENHANCED_SEEDS = 100;

/** Reads recorded transactions as the `result` of a node, by their encoding, smaller ones first. */
function recordedTransactions(): { readonly json: readonly string[]; readonly jsonParsed: readonly string[] } {
  const results = readRecordings('transactions')
    .map((line) => JSON.parse(line).result)
    .filter((result) => Array.isArray(result?.transaction?.message?.accountKeys));
  const isParsed = ({ transaction }: { transaction: { message: { accountKeys: unknown[] } } }): boolean =>
    typeof transaction.message.accountKeys[0] === 'object';
  const textsOf = (chosen: readonly unknown[]): readonly string[] =>
    chosen
      .map((result) => JSON.stringify(result))
      .filter(({ length }) => length < MAX_SEED_BYTES)
      .sort((a, b) => a.length - b.length);
  return {
    json: textsOf(results.filter((result) => !isParsed(result))),
    jsonParsed: textsOf(results.filter(isParsed)),
  };
}

/** Texts of one letter, and of the words in the build's regular expressions. */
export const fillersOf = (words: readonly string[]): readonly string[] => ['a', 'z', '1', ' ', 'é', ...words];

const withPlace = (json: string): string => {
  const [signature] = JSON.parse(json).transaction.signatures ?? [];
  return typeof signature === 'string' ? json.replaceAll(signature, SIGNATURE_PLACE) : json;
};

/** Returns the slot of a block this far back, or of a final one that no other attempt reads. */
const blockAt = (back: number | 'final', { salt, tip }: Occasion): number =>
  Math.max(0, back === 'final' ? createHash('sha256').update(salt).digest().readUInt32BE() % (tip - 100) : tip - back);

/** Returns a recorded transaction as a block lists it with `transactionDetails: "accounts"`. */
function inBlock(recorded: string): string {
  const { transaction, meta, version } = JSON.parse(recorded);
  const { signatures, message } = transaction;
  return JSON.stringify({ transaction: { signatures, accountKeys: message.accountKeys }, meta, version });
}

/** Returns a recorded transaction as a block lists it with `transactionDetails: "full"`. */
function inFullBlock(recorded: string): string {
  const { transaction, meta, version } = JSON.parse(recorded);
  return JSON.stringify({ transaction, meta, version });
}

/** Returns a block of this number of transactions, within the size of a block. */
const blockOf = (rows: number, json: string): NodeAnswer => ({
  kind: 'block',
  rows: Math.min(rows, Math.floor(MAX_BLOCK_BYTES / json.length)),
  json,
});

function transactionFamilies(words: readonly string[]): readonly CostFamily[] {
  const { json, jsonParsed } = recordedTransactions();
  const fillers = fillersOf(words);
  const isLog = (place: string): boolean => /logMessages|logs/.test(place);
  const documents = new DocumentGrowth({
    seeds: [json, jsonParsed],
    fillers,
    maxBytes: TRANSACTION_BYTES,
    isGrown: (place, kind) => kind !== 'list' || isLog(place), // a node's other lists are within the protocol's bounds
  });
  const enhanced = enhancedTransactions(jsonParsed.slice(-ENHANCED_SEEDS));
  const succeeded = (tx: string): boolean => JSON.parse(tx).meta?.err === null;
  const forms = [json, jsonParsed].flatMap((form) => [form.filter(succeeded), form.filter((tx) => !succeeded(tx))]);
  const bodies = (form: readonly string[]): readonly string[] => form.map((tx) => `{"tx":${tx}}`);
  const records = forms.map(bodies);
  const views = [bodies(enhanced)];
  // a program's own words are read only where it failed
  const failures = [records.flat().filter((body) => /AnchorError/.test(body)), records.flat().filter(hasFailed)];
  const tx = costFamily({
    route: '/tx/:sig',
    weight: 3,
    dimensions: {
      enhanced: [1, 0],
      template: ['named mint', 'mint', 'blob', 'metadata'],
      bytes: [32, 1000, 10_000, 1_000_000, 4_000_000],
      ...REQUEST_DIMENSIONS,
      commitments: [1],
    },
    documents,
    attempt: (values, occasion, document) => ({
      requests: getRequests(
        `/tx/${signatureOf(occasion.salt)}`,
        values.enhanced === 1 ? 'enhanced=1' : '',
        values,
        occasion,
      ),
      script: {
        getTransaction: { kind: 'transaction', json: withPlace(document) },
        getMultipleAccounts: accountsAnswer(values), // of the tokens that its sentence names
      },
      isSimultaneous: values.simultaneous === 1,
    }),
  });
  const history = costFamily({
    route: '/address/:addr/history',
    weight: 3,
    dimensions: {
      type: ['', 'transfers'],
      limit: [20, 1, 2, 25],
      rows: [1000, 0, 1, 30, 200],
      memoBytes: [0, 100, 500],
      accounts: [0, 25, 3000],
      cursors: [1, 2, 3],
      ...REQUEST_DIMENSIONS,
      commitments: [1],
    },
    documents,
    attempt: (values, occasion, document) => ({
      requests: Array.from({ length: values.cursors }, (_, i) => {
        const cursor = i === 0 ? '' : `before=${signatureOf(`${i} of ${addressOf(occasion.salt)}`)}`;
        const type = values.type === '' ? '' : 'type=transfers';
        const query = queryOf(`limit=${values.limit}`, cursor, type);
        return getRequests(`/address/${addressOf(occasion.salt)}/history`, query, values, occasion);
      }).flat(),
      script: {
        getTokenAccountsByOwner: { kind: 'token accounts', rows: values.accounts, mints: values.accounts },
        getSignaturesForAddress: { kind: 'signatures', rows: values.rows, memoBytes: values.memoBytes },
        getTransaction: { kind: 'transaction', json: withPlace(document) },
      },
      isSimultaneous: values.simultaneous === 1,
    }),
  });
  const explain = (
    what: string,
    weight: number,
    seeds: DocumentGrowthOptions['seeds'],
    isGrown: DocumentGrowthOptions['isGrown'],
  ): CostFamily =>
    costFamily({
      route: `/explain (${what})`,
      weight,
      dimensions: {},
      documents: new DocumentGrowth({ seeds, fillers, maxBytes: EXPLAIN_BYTES, isGrown }),
      attempt: (_, __, body) => ({ requests: [{ method: 'POST', target: '/explain', body }], script: {} }),
    });
  const block = costFamily({
    route: '/block/:slot',
    weight: 2,
    dimensions: { rows: [1, 100, 1000, 4000], back: ['final', 1, 5], transaction: [0, 20, -1] },
    attempt: ({ rows, back, transaction }, occasion) => ({
      requests: [{ target: `/block/${blockAt(back, occasion)}` }],
      script: { getBlock: blockOf(rows, inBlock(jsonParsed.at(transaction) ?? '{}')) },
    }),
  });
  const listing = costFamily({
    route: '/block/:slot (listing)',
    weight: 2,
    dimensions: {
      rows: [1, 100, 1000, 4000],
      back: ['final', 1, 5],
      transaction: [0, 20, -1],
      pages: [1, 3],
      simultaneous: [0, 1],
      commitments: [1, 2],
    },
    attempt: ({ rows, back, transaction, pages, simultaneous, commitments }, occasion) => ({
      requests: Array.from({ length: pages }, (_, i) =>
        ['', 'commitment=finalized'].slice(0, commitments).map((commitment) => ({
          target: `/block/${blockAt(back, occasion)}?${queryOf('signatures=all', `page=${i + 1}`, commitment)}`,
        })),
      ).flat(),
      script: { getBlock: blockOf(rows, inFullBlock(json.at(transaction) ?? '{}')) },
      isSimultaneous: simultaneous === 1,
    }),
  });
  return [
    explain('lists', 8, records, (_, kind) => kind !== 'text'),
    explain('lists of views', 6, views, (_, kind) => kind !== 'text'),
    explain('texts', 6, [...records, ...views], (place, kind) => kind === 'text' && !isLog(place)),
    explain('logs', 3, records, isLog),
    explain('errors in logs', 3, failures, (place) => isLog(place) && /error/i.test(place)),
    explain('all', 4, [...records, ...views], () => true),
    tx,
    history,
    block,
    listing,
  ];
}

const hasFailed = (body: string): boolean => JSON.parse(body).tx.meta?.err !== null;

function enhancedTransactions(lines: readonly string[]): readonly string[] {
  return lines.map((line) => toJson(enhanceTransaction(normalizeTransaction(parseExactJson(line)))));
}

const RPC_PARAMS: Readonly<Record<string, (salt: string) => unknown[]>> = {
  getBalance: (salt) => [addressOf(salt)],
  getAccountInfo: (salt) => [addressOf(salt), { encoding: 'base64' }],
  getMultipleAccounts: (salt) => [[addressOf(salt), addressOf(`${salt} b`)], { encoding: 'jsonParsed' }],
  getTokenAccountsByOwner: (salt) => [addressOf(salt), { mint: addressOf('mint') }, { encoding: 'jsonParsed' }],
  getTokenAccountBalance: (salt) => [addressOf(salt)],
  getTokenSupply: (salt) => [addressOf(salt)],
  getTokenLargestAccounts: (salt) => [addressOf(salt)],
  getBlock: (salt) => [1 + (Number.parseInt(salt.replace(/\D/g, '').slice(-6) || '1', 10) % 40), { rewards: false }],
  getBlockTime: () => [5],
  getTransaction: (salt) => [signatureOf(salt), { maxSupportedTransactionVersion: 0 }],
  getSignaturesForAddress: (salt) => [addressOf(salt)],
};

const rpcAnswers = costFamily({
  route: '/rpc (answers)',
  weight: 3,
  dimensions: {
    method: READ_METHODS.filter((method) => !PIPELINE_METHODS.has(method)) as unknown as readonly [string, ...string[]],
    answerBytes: [10, 1000, 100_000, 1_000_000, 7_000_000, 20_000_000],
    of: FILLERS,
    failure: [0, -32002, -32005, -32602],
    ...REQUEST_DIMENSIONS,
    commitments: [1],
  },
  attempt: ({ method, answerBytes, of, failure, repeats, ...values }, occasion) => ({
    requests: Array.from({ length: repeats }, (_, i) => ({
      method: 'POST',
      target: '/rpc',
      headers: headersOf({ ...values, headerBytes: 0, caching: 'none' }, occasion, i),
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: RPC_PARAMS[method]?.(occasion.salt) ?? [] }),
    })),
    script: {
      [method]:
        failure === 0
          ? { kind: 'filler', bytes: answerBytes, of }
          : { kind: 'error', code: failure, messageBytes: answerBytes, of },
    },
    isSimultaneous: values.simultaneous === 1,
  }),
});

function bodyFamilies(words: readonly string[]): readonly CostFamily[] {
  const calls = READ_METHODS.map((method) =>
    JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: RPC_PARAMS[method]?.('a salt') ?? [{ a: 1 }] }),
  );
  const documents = new DocumentGrowth({ seeds: [calls], fillers: fillersOf(words), maxBytes: RPC_BYTES });
  const rpcBodies = costFamily({
    route: '/rpc (bodies)',
    weight: 2,
    dimensions: {},
    documents,
    attempt: (_, __, body) => ({ requests: [{ method: 'POST', target: '/rpc', body }], script: {} }),
  });
  const bombs = costFamily({
    route: '/rpc and /explain (bombs)',
    dimensions: { target: ['/rpc', '/explain'], of: FILLERS, bytes: [100, 5000, 60_000, 65_536, 262_144] },
    attempt: ({ target, of, bytes }) => {
      const filler = fillerJson(of, bytes - 30);
      return { requests: [{ method: 'POST', target, body: `{"tx":${filler},"method":7}` }], script: {} };
    },
  });
  return [rpcBodies, bombs];
}

const searchFamily = (words: readonly string[]): CostFamily =>
  costFamily({
    route: '/search',
    dimensions: {
      form: ['address', 'signature', 'domain', 'slot', 'url', 'text'],
      filler: ['a', 'z', '1', '/', '.', '-', '%20', 'tx/', ...words.filter((word) => word.length > 4)],
      size: [10, 44, 88, 200, 1000, 3000, 8000],
      ...ACCOUNT_DIMENSIONS,
      repeats: [1, 2],
    },
    attempt: ({ form, filler, size, ...values }, { salt }) => {
      const text = filler.repeat(Math.ceil(size / filler.length)).slice(0, size);
      const terms: Record<string, string> = {
        address: addressOf(salt),
        signature: signatureOf(salt),
        domain: `${text}.sol`,
        slot: '9'.repeat(Math.min(size, 3000)),
        url: `https://x.y/${text}/tx/${text}`,
        text,
      };
      const target = `/search?q=${encodeURI(terms[form] ?? '')}`;
      return { requests: Array(values.repeats).fill({ target }), script: accountsScript({ ...values, failure: 0 }) };
    },
  });

/** A route without an account: only the request varies. */
const plainFamily = (path: string): CostFamily =>
  costFamily({
    route: path,
    weight: 0.3,
    dimensions: { ...REQUEST_DIMENSIONS, query: ['', 'x=1', 'page=2', `q=${'a'.repeat(3000)}`] },
    attempt: (values, occasion) => ({
      requests: getRequests(
        path.replace(/[:{](\w+)\}?/g, () => addressOf(occasion.salt)),
        values.query,
        values,
        occasion,
      ),
      script: {},
      isSimultaneous: values.simultaneous === 1,
    }),
  });

const balancesFamily = costFamily({
  route: '/balances',
  dimensions: { count: [1, 10, 80, 81], ...ACCOUNT_DIMENSIONS, ...REQUEST_DIMENSIONS, ...FAILURE_DIMENSIONS },
  attempt: (values, occasion) => {
    const addresses = Array.from({ length: values.count }, (_, i) => addressOf(`${i} ${occasion.salt}`));
    return {
      requests: getRequests('/balances', `addresses=${addresses.join()}`, values, occasion),
      script: accountsScript(values),
      isSimultaneous: values.simultaneous === 1,
    };
  },
});

/**
 * Returns the families of all routes that a gateway has. A path without a family of its own gets one that varies only
 * the request.
 */
export function costFamilies(paths: readonly string[], words: readonly string[]): readonly CostFamily[] {
  const families = [
    ...transactionFamilies(words),
    ownerFamily('/address/:addr/portfolio', { stake: [0, 1], stakes: [2, 0, 100, 1000, 1001, 20_000] }, ({ stake }) =>
      stake === 1 ? 'stake=1' : '',
    ),
    ownerFamily('/token-accounts/:owner'),
    holdersFamily,
    accountFamily('/account/:addr'),
    accountFamily('/balance/:addr'),
    accountFamily('/token/:mint'),
    balancesFamily,
    searchFamily(words),
    rpcAnswers,
    ...bodyFamilies(words),
  ];
  const isOf = (route: string, path: string): boolean => route.split(' ').includes(path);
  const known = families.filter(({ route }) => paths.some((path) => isOf(route, path)));
  const others = paths.filter((path) => path !== '/stream' && !families.some(({ route }) => isOf(route, path)));
  return [...known, ...others.map(plainFamily)];
}
