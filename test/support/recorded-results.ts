import { readFileSync, writeFileSync } from 'node:fs';
import { COINS, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { toJson } from '../../src/shared/domain/to-json.ts';
import { type HttpAnswer, startStepped } from './harness.ts';
import { type RecordedTransaction, recordedByName } from './recorded-transactions.ts';
import { WITHOUT_LIVE_DATA } from './route-defects.ts';
import type { TestScope } from './test-scope.ts';

/** The result of a request over data that don't change, by its digest, and the number of the claim that it is signed with. */
export interface RecordedResult {
  readonly request: string;
  readonly claimNumber: number;
  readonly digest: string;
}

const FILE = new URL('../../../test/support/recorded/results.ndjson', import.meta.url); // from dist/test/support

/** Reads the results that were recorded last. */
export const readRecordedResults = (): readonly RecordedResult[] =>
  readFileSync(FILE, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

export const writeRecordedResults = (results: readonly RecordedResult[]): void =>
  writeFileSync(FILE, results.map((result) => `${JSON.stringify(result)}\n`).join(''));

/** Recorded transactions of many kinds, by which a change of what is said about one is noticed. */
const RECORDINGS = [
  'tx/22xruGxWMALD_jsonParsed',
  'tx/3HxfYpPAC7dM_jsonParsed',
  'tx/4pAEq48cQsw8_json',
  'tx/5HzJs4E3KobY_json',
  'tx/duP4A5qSZKr6_json',
  'tx-cut/2Gapp7PBSWd4_json',
  'tx-cut/39iFqR6ky3FX_json',
  'tx-cut/3XTcuzsjcac7_json',
  'tx-cut/3sjpyYTATPqa_json',
  'validator/163 createMint, jsonParsed',
] as const;

/** The slot of the embedded cluster at which results are made: its data are the same each time. */
const SLOT = 1_000_300;

/** The routes whose results can't be made again: they depend on when the gateway read samples, or saw slots. */
export const UNREPEATABLE: readonly string[] = ['/epoch', '/network/history'];

/**
 * Makes a result of each route over the embedded cluster, whose genesis and clock are the same each time, and results
 * about recorded transactions. Nothing in them may depend on the time of the run.
 */
export async function makeResults(scope: TestScope): Promise<readonly RecordedResult[]> {
  const { get, node, cluster, step } = await startStepped(scope, { perSlot: 2, set: WITHOUT_LIVE_DATA });
  const { chain } = cluster;
  // how far the cluster is when the gateway is ready depends on the machine
  while (chain.slot('processed') < SLOT) {
    const slots = Math.min(25, SLOT - chain.slot('processed'));
    await step(slots, slots);
  }
  if (chain.slot('processed') !== SLOT) throw new Error(`the gateway was not ready by slot ${SLOT}`);
  const results: RecordedResult[] = [];
  const add = (path: string, { status, json }: HttpAnswer): void => {
    if (status !== 200) throw new Error(`${path}: ${status} ${json.message}`);
    const { claim, digest } = json.receipt;
    results.push({ request: path, claimNumber: Number(claim.split('/')[1]), digest });
  };
  const [wallet] = WALLETS;
  const [{ mint } = { mint: { address: '' } }] = COINS;
  const signature = chain
    .transactionsOf(wallet.address)
    .findLast(({ slot }) => slot <= chain.slot('finalized'))?.signature;
  const paths = [
    `/balance/${wallet.address}`,
    `/balances?addresses=${wallet.address}`,
    `/account/${wallet.address}`,
    `/token-accounts/${wallet.address}`,
    `/address/${wallet.address}/portfolio`,
    `/address/${wallet.address}/history?limit=10`,
    `/address/${wallet.address}/history?type=transfers&limit=10`,
    `/token/${mint.address}`,
    `/token/${mint.address}/holders`,
    `/block/${chain.slot('finalized')}`,
    `/leaders/${SLOT}`,
    `/tx/${signature}`,
    `/tx/${signature}?enhanced=1`,
    `/search?q=${wallet.address}`,
    `/search?q=${signature}`,
  ];
  for (const path of paths) add(path, await get(path));
  for (const { result, transaction } of findRecordings()) {
    const [signature = ''] = transaction.signatures;
    const json = toJson(result);
    const row = { signature, slot: transaction.slot, err: null, memo: null, blockTime: transaction.blockTime };
    node.overrides.set('getTransaction', () => ({ result: json }));
    node.overrides.set('getSignaturesForAddress', () => ({ result: JSON.stringify([row]) }));
    for (const path of [`/tx/${signature}?enhanced=1`, `/address/${transaction.feePayer}/history?type=transfers`])
      add(path, await get(path));
  }
  return results;
}

function findRecordings(): readonly RecordedTransaction[] {
  const byName = recordedByName('transactions', RECORDINGS);
  return RECORDINGS.flatMap((name) => byName.get(name) ?? []);
}

/** Returns the results that are not as they were recorded, although they are signed with the number of then. */
export function findUnnumberedChanges(
  recorded: readonly RecordedResult[],
  made: readonly RecordedResult[],
): readonly string[] {
  const before = new Map(recorded.map((each) => [each.request, each]));
  return made.flatMap(({ request, claimNumber, digest }) => {
    const last = before.get(request);
    return last === undefined || last.digest === digest || last.claimNumber !== claimNumber
      ? []
      : [`GET ${request} (claim number ${claimNumber})`];
  });
}
