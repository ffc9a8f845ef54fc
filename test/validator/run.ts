import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import bs58 from 'bs58';
import t, { type Test } from 'tap';
import { createVerifier } from '../../src/client/verify/verify-receipt.ts';
import type { JsonAt } from '../support/answer-json.ts';
import { httpClient } from '../support/harness.ts';
import { rpcRequest } from '../support/rpc-request.ts';
import { BlockLedger } from './block-ledger.ts';
import { type ClaimAges, measureClaimAges } from './claim-ages.ts';
import { openFundedWallet } from './funded-wallet.ts';
import { GATEWAYS } from './gateways-under-test.ts';
import { ObservationLog } from './observation-log.ts';
import { openStreamListener } from './stream-listener.ts';
import { TokenTraffic } from './token-traffic.ts';

// Runs a gateway over a real validator, whose URL is the last argument, under transfers and token operations: checks
// every route, receipt and frame, and compares each balance, list and push with what the blocks record at its slot.
// Runs for RUN_SECONDS of real time in all, 60 by default, with a pause of PACE_MS between rounds; not part of `npm test`. GATEWAYS
// names what runs: `alone` and, where the validator has a Geyser feed, `feed`, which are the default; `operators`, which are three
// at unequal distances of the one validator; `workers` or `redis`, of which a part is killed each KILL_SECONDS: these are only read, since a kill ends streams. A run that a signal or errors end compares
// what it has read, and prints its figures.

const url = process.argv.at(-1) ?? '';
const PACE_MS = Number(process.env['PACE_MS'] ?? 50);
const KILL_SECONDS = Number(process.env['KILL_SECONDS'] ?? 10);
const WHICH = (process.env['GATEWAYS'] ?? (process.env['GEYSER_URL'] === undefined ? 'alone' : 'alone,feed')).split(
  ',',
);
const RUN_SECONDS = Number(process.env['RUN_SECONDS'] ?? 60) / WHICH.length;
/** Longest further time until all accounts have been live at one slot, on a busy machine. */
const LIVE_MS = 120_000;
const COMMITMENTS = ['processed', 'confirmed', 'finalized'] as const;
/** Past slots of a round, each for all accounts. */
const PAST_SLOTS = Number(process.env['PAST_SLOTS'] ?? 5);
/** Rounds that may fail, as transactions of a late node do; with more the run ends. */
const MAX_FAILED_ROUNDS = 20;
/** The slots to go back at most. */
const PAST_RANGE = 400;
const PAYMENT = 1_000_000;
/** Statuses of a late node on a busy machine, which are counted. */
const LATE: readonly number[] = [503, 504];

t.setTimeout((WHICH.length * RUN_SECONDS + 300) * 1000);

for (const which of WHICH) t.test(`a gateway over a real validator: ${which}`, (t) => run(t, which));

async function run(t: Test, which: string): Promise<void> {
  /** New accounts, whose whole history is in the blocks of this run. */
  const ACCOUNTS = Array.from({ length: 20 }, () => bs58.encode(randomBytes(32)));
  const startMs = performance.now();
  const consensus = (await rpcRequest(url, 'getAgGenesisCert')) === null ? 'tower' : 'alpenglow';
  const gateways = await GATEWAYS[which]?.(t, url);
  if (gateways === undefined) throw new Error(`GATEWAYS is one of ${Object.keys(GATEWAYS).join(', ')}`);
  const { publicKey, get, kill } = gateways;
  const cluster = await rpcRequest<string>(url, 'getGenesisHash');
  const ledger = new BlockLedger(url, await rpcRequest<number>(url, 'getSlot', [{ commitment: 'processed' }]));
  const wallet = await openFundedWallet(url);
  const tokens = await TokenTraffic.open(url, wallet);

  const verify = createVerifier();
  const claims = new ObservationLog();
  const newest = new Map<string, number>();
  const hits: Record<string, number> = {};
  /** The answers by their claim and the operators that agreed, where there are some. */
  const agreed: Record<string, number> = {};
  let [answers, pushes, late, cutOff, backwards, notKept] = [0, 0, 0, 0, 0, 0];
  let [firstSlot, newestSlot] = [0, 0];
  const killed: Record<string, number> = {};
  let claimAges: ClaimAges | undefined;
  let hasPast = kill !== undefined;
  const verified = <const P extends string>(
    path: P,
    text: string,
  ): { readonly result: JsonAt<P>['result']; readonly slot: number } => {
    const time = { nowMs: Date.now(), maxAgeMs: 60_000 };
    const request = `GET /api/v1${path}`;
    const { result, slot, receipt } = verify(text, { publicKeys: [publicKey], cluster, request, time });
    const claim = `${receipt.claim} ${receipt.agreed ?? ''}`;
    agreed[claim] = (agreed[claim] ?? 0) + 1;
    return { result: JSON.parse(result), slot };
  };

  const listen = (path: string, text: string): void => {
    const { result, slot } = verified(path as `/account/${string}`, text); // or of /balance/: the same member
    const [account = ''] = path.split(/[/?]/).slice(2);
    const observed = result?.lamports ?? 0;
    claims.add({ source: 'push', subject: path, slot, observed, expected: (ledger) => ledger.balance(account, slot) });
    pushes++;
  };
  const stream = kill === undefined ? await openStreamListener(gateways.url, listen) : undefined;
  const followAll = async (): Promise<void> => {
    for (const [i, account] of ACCOUNTS.entries()) {
      for (const commitment of COMMITMENTS)
        await stream?.subscribe(i % 2 === 0 ? 'balance' : 'account', account, commitment);
    }
  };
  const following = followAll();

  /** Reads a path; undefined where the connection was cut. */
  const getIfOpen = (path: string) =>
    get(path).catch(() => {
      cutOff++;
      return undefined;
    });

  /** Reads a path and logs the observed value in the form that `recorded` returns. */
  const read = async <T, const P extends string>(
    path: P,
    saidIn?: (result: JsonAt<P>['result']) => T,
    recorded?: (ledger: BlockLedger, slot: number) => T,
  ) => {
    const answer = await getIfOpen(path);
    if (answer === undefined) return;
    const { status, text, headers, from } = answer;
    if (LATE.includes(status)) {
      late++;
      return;
    }
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
    const { result, slot } = verified(path, text);
    answers++;
    const subject = `${from} ${path}`;
    if (slot < (newest.get(subject) ?? 0)) backwards++;
    newest.set(subject, slot);
    if (saidIn === undefined || recorded === undefined) return;
    const source = /balances|balance|token-accounts|portfolio/.exec(path)?.[0] ?? '';
    if (headers.get('x-cache') === 'HIT') hits[source] = (hits[source] ?? 0) + 1;
    claims.add({ source, subject: path, slot, observed: saidIn(result), expected: (ledger) => recorded(ledger, slot) });
  };
  const readBalance = (account: string, commitment: string): Promise<void> =>
    read(
      `/balance/${account}?commitment=${commitment}`,
      ({ lamports }) => lamports,
      (ledger, slot) => ledger.balance(account, slot),
    );
  const readBalances = (accounts: readonly string[], commitment: string): Promise<void> =>
    read(
      `/balances?addresses=${accounts.join('%2C')}&commitment=${commitment}`,
      (rows) => rows.map(({ address, lamports }) => [address, lamports].join()),
      (ledger, slot) => accounts.map((account) => [account, ledger.balance(account, slot)].join()),
    );
  /** Reads all accounts at a slot some blocks ago. */
  const readPast = async (): Promise<void> => {
    const back = 2 + Math.floor(Math.random() * Math.min(PAST_RANGE, Math.max(1, newestSlot - firstSlot - 2)));
    const path = `/balances?addresses=${ACCOUNTS.join('%2C')}&slot=${newestSlot - back}` as const;
    const { status, text = '' } = (await getIfOpen(path)) ?? {};
    if (status === 404) notKept++;
    if (status !== 200) return;
    hasPast = true;
    const { result, slot } = verified(path, text);
    for (const { address, lamports } of result)
      claims.add({
        source: 'past',
        subject: path,
        slot,
        observed: lamports,
        expected: (ledger) => ledger.balance(address, slot),
      });
  };
  const readTokens = (owner: string, commitment: string): Promise<void> =>
    read(
      `/token-accounts/${owner}?commitment=${commitment}`,
      (rows) =>
        rows
          .map(({ address, mint, tokenAmount, lamports }) => [address, mint, tokenAmount.amount, lamports].join())
          .sort(),
      (ledger, slot) =>
        ledger
          .tokens(owner, slot)
          .map(({ address, mint, amount, lamports }) => [address, mint, amount, lamports].join()),
    );
  const readPortfolio = (owner: string): Promise<void> =>
    read(
      `/address/${owner}/portfolio`,
      ({ items }) => items.map(({ asset, mint, amount }) => `${asset === 'SOL' ? asset : mint} ${amount}`).sort(),
      (ledger, slot) => {
        const sums = new Map([['SOL', BigInt(ledger.balance(owner, slot))]]);
        for (const { mint, amount } of ledger.tokens(owner, slot))
          sums.set(mint, (sums.get(mint) ?? 0n) + BigInt(amount));
        return [...sums]
          .filter(([, amount]) => amount > 0n)
          .map((item) => item.join(' '))
          .sort();
      },
    );

  let end = performance.now() + RUN_SECONDS * 1000;
  const failures: unknown[] = [];
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => {
      end = 0;
    });
  const killAll = async (): Promise<void> => {
    while (kill !== undefined && performance.now() + KILL_SECONDS * 1000 < end) {
      await sleep(KILL_SECONDS * 1000);
      const part = await kill();
      killed[part] = (killed[part] ?? 0) + 1;
    }
  };
  const killing = killAll();
  const runRound = async (round: number): Promise<void> => {
    const chosen = ACCOUNTS.filter((_, i) => i % 5 === round % 5);
    await wallet.pay([...chosen, ...tokens.owners], PAYMENT + round);
    await tokens.doRandomOperation();
    for (const account of ACCOUNTS) await readBalance(account, 'confirmed');
    for (const commitment of COMMITMENTS) {
      await readBalances(ACCOUNTS, commitment);
      for (const owner of tokens.owners) await readTokens(owner, commitment);
      for (const account of chosen) await readBalance(account, commitment);
    }
    newestSlot = await rpcRequest<number>(url, 'getSlot', [{ commitment: 'confirmed' }]);
    if (round === 5) {
      firstSlot = newestSlot; // all are live by then
      const slotOf = async () => (await get(`/balance/${ACCOUNTS[0]}`)).json.slot;
      if (gateways.feedUrl !== undefined) claimAges = await measureClaimAges(gateways.feedUrl, slotOf);
    }
    if (round > 5 && kill === undefined) for (let i = 0; i < PAST_SLOTS; i++) await readPast();
    for (const owner of tokens.owners) await readPortfolio(owner);
    for (const path of ['/slot', '/epoch', '/performance', '/priority-fee', `/account/${wallet.signer.address}`])
      await read(path);
    await ledger.readNewBlocks();
    const before = claims.differences.length;
    claims.compare(ledger);
    for (const difference of claims.differences.slice(before)) t.comment(JSON.stringify(difference)); // differences are reported as they come
    await sleep(PACE_MS);
  };
  for (let round = 0; performance.now() < (hasPast || end === 0 ? end : end + LIVE_MS); round++)
    await runRound(round).catch((thrown: unknown) => {
      failures.push(thrown);
      if (failures.length > MAX_FAILED_ROUNDS) end = 0;
    });
  await Promise.all([following, killing]);
  const { frames = [], unexpected = [], late: lateSubscriptions = [] } = stream ?? {};
  stream?.close();
  claimAges?.close();
  await ledger.readThrough(claims.newestSlot).catch((thrown: unknown) => {
    failures.push(thrown); // the validator is gone: what can be compared is
  });
  claims.compare(ledger);
  const { compared, differences } = claims;
  const figures = {
    which,
    consensus,
    seconds: Math.round((performance.now() - startMs) / 1000),
    operations: tokens.operations,
    answers,
    hits,
    agreed,
    pushes,
    receipts: answers + pushes,
    late: late + lateSubscriptions.length,
    cutOff,
    notKept,
    killed,
    frames: frames.length,
    claimAgeMs: claimAges?.figures,
    compared,
    differences: claims.contradictedCount,
    failures: failures.map(String),
  };
  t.comment(JSON.stringify(figures));

  t.strictSame(differences.slice(0, 5), [], 'all that was said is what the blocks record');
  t.strictSame(gateways.alarms(), [], 'no claim was found to be false');
  for (const way of [
    'balance',
    'balances',
    'token-accounts',
    'portfolio',
    ...(kill === undefined ? ['push', 'past'] : []),
  ])
    t.ok(compared[way] ?? 0, `${way} was compared`);
  const client = httpClient(gateways.url);
  t.equal(backwards, 0, 'no slot goes back');
  t.ok(
    (late + lateSubscriptions.length + cutOff) * (kill === undefined ? 100 : 20) <= answers,
    `${late} of ${answers} came late, ${cutOff} not at all`,
  );
  if (kill !== undefined) t.ok(Object.keys(killed).length > 1, 'parts were killed');
  t.equal((await client.get('/network')).json.result.consensus, consensus);
  t.match((await client.get('/health')).json.result, { cluster });
  const call = { method: 'getBalance', params: [wallet.signer.address] };
  t.match((await client.rpc<{ context: { apiVersion: string } }>(call)).json.result.context.apiVersion, /^\d/);
  const gaps = frames.filter(({ result, slot }, i) => {
    const before = frames[i - 1]?.result;
    return slot !== result.slot || (before !== undefined && (result.seq !== before.seq + 1 || slot < before.slot));
  });
  t.strictSame(gaps, [], 'no frame is missing, none goes back');
  t.strictSame(unexpected, [], 'no push is missing, none is refused');
  t.ok(failures.length <= MAX_FAILED_ROUNDS, `rounds that have failed: ${failures.join('; ')}`);
}
