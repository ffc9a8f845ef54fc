import { setTimeout as sleep } from 'node:timers/promises';
import bs58 from 'bs58';
import type { Page, Route } from 'playwright-core';
import t from 'tap';
import { startEmbeddedCluster } from '../../src/localnet/embedded-cluster.ts';
import { NONCE, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { shorten } from '../../src/pages/format/figures.ts';
import { WRAPPED_SOL } from '../../src/shared/domain/known-mints.ts';
import { COMPUTE_BUDGET_PROGRAM, TOKEN_PROGRAM } from '../../src/shared/domain/well-known-addresses.ts';
import { startGateway } from '../support/harness.ts';
import { CLUSTER, newSigner, sealAnswers } from '../support/receipts/sealed-answers.ts';
import { openTab } from './chromium.ts';
import { openTamperingProxy } from './tampering-proxy.ts';
import {
  accessibilityViolations,
  countLayoutShifts,
  countSockets,
  restoreDate,
  shiftedElements,
  untilShown,
  waitFor,
} from './watch-page.ts';

const WALLET = WALLETS[0]?.address ?? '';
/** An address that nothing names. */
const UNUSED = '4Nd1mYvPbV2s1cVqkV4kQZ5tXcQw2wV1yqUvV5h3m1sb';

const cluster = await startEmbeddedCluster({ slotMs: 200, transactionsPerSlot: 3 });
t.teardown(() => cluster.close());
const nodes = [`${cluster.url},${cluster.wsUrl}`];
const { gateway, get } = await startGateway(t, nodes);

/** Holds the answers of the gateway to some requests; each is answered when the test says so. */
async function holdAnswers(page: Page, pattern: RegExp): Promise<readonly Route[]> {
  const held: Route[] = [];
  await page.route(pattern, (route) => void held.push(route));
  return held;
}

/** Answers requests of a page by results of the test, by pattern of their path, signed with a key of its own. */
async function answerWith(page: Page, results: Readonly<Record<string, (path: string) => unknown>>): Promise<void> {
  const signer = newSigner();
  await page.route('**/api/v1/pubkey', (route) => route.fulfill({ json: { publicKey: signer.publicKey } }));
  await page.route('**/api/v1/health', (route) => route.fulfill({ json: { result: { cluster: CLUSTER } } }));
  for (const [pattern, resultOf] of Object.entries(results))
    await page.route(`**/api/v1/${pattern}`, (route) => {
      const [, path = ''] = route.request().url().split('/api/v1/');
      const statement = { slot: 1_234_567, commitment: 'confirmed', claim: 'observed', nonce: null } as const;
      const sealed = { ...statement, request: `GET /api/v1/${path}`, result: JSON.stringify(resultOf(path)) };
      const [body = ''] = sealAnswers(signer, [sealed], Date.now());
      return route.fulfill({ body, contentType: 'application/json' });
    });
}

const part = (page: Page, title: string) => page.locator(`.part[aria-label="${title}"]`);
const columns = (page: Page, title: string) => part(page, title).locator('thead th').allTextContents();
const isBusy = (page: Page, title: string) => part(page, title).locator('[aria-busy=true]').count();

t.test('each example of the start page exists', async (t) => {
  const { page } = await openTab(t);
  await page.goto(`${gateway.url}/explorer`);
  await untilShown(page.locator('.examples a:text("A recent block")'));
  await waitFor(async () => (await page.locator('[aria-busy=true]').count()) === 0, 'all parts');
  const links = await page.locator('.examples a').evaluateAll((found) => found.map(String));
  t.ok(links.length >= 9, `${links.length} examples`);
  t.match(await part(page, 'Newest blocks').textContent(), /Those between are not shown/);
  t.same(await columns(page, 'Newest blocks'), ['Slot', 'Transactions', 'Fees, SOL', 'Leader']);
  for (const link of links) {
    await page.goto(link);
    t.ok(await untilShown(page.locator('.part dt, .part .balance, .part nav')), `${link} is there`);
  }
});

t.test('each kind of account shows what it is, and an address with nothing says so in one part', async (t) => {
  const { page } = await openTab(t);
  const read = async (query: string, title = 'Account'): Promise<string | null> => {
    await page.goto(`${gateway.url}/explorer?q=${encodeURIComponent(query)}`);
    await untilShown(part(page, title).locator('dt, p:not(:text("Loading"))'));
    return part(page, title).textContent();
  };
  t.match(
    await read(TOKEN_PROGRAM),
    /Upgrade authoritynobody: the program can’t change \(not signed\)Last deployedin slot [\d,]+ \(not signed\)Balance/,
  );
  t.equal(await part(page, 'Balance').count(), 0, 'the balance of a program is no headline');
  t.equal(await page.locator('.qr').count(), 0, 'nobody is invited to pay a program');
  const data = Buffer.from([3, 0, 0, 0, 9, 1, 0, 0, 0, 0, 0, 0, 1, ...bs58.decode(WALLET)]).toString('base64');
  await page.route('**/api/v1/rpc', (route) =>
    route.fulfill({ json: { result: { value: { data: [data, 'base64'] } } } }),
  );
  t.match(
    await read(TOKEN_PROGRAM),
    /can change the program \(not signed\)Last deployedin slot 265 \(not signed\)Balance/,
  );
  await part(page, 'Account').locator(`dd a[title="${WALLET}"]`).waitFor();
  t.match(await read(NONCE.address), /Authority\w+…\w+Blockhash/);
  t.equal(await part(page, 'Account').locator('dt:text-is("Blockhash") + dd a').count(), 0, 'a hash is no address');
  t.match(await read(UNUSED), /it holds no SOL, no tokens, and no transaction names it/);
  t.equal(await page.locator('.part').count(), 1);
  t.match(await read('epoch 2', 'Epoch'), /StateoverFirst slot16,384Last slot24,575Current epoch\d+$/);
  await part(page, 'Epoch').locator('a').last().click();
  t.match(await read(`epoch ${Number((await get('/epoch')).json.result.epoch)}`, 'Epoch'), /StatecurrentEnds/);
});

t.test('a row has its memo without what a node adds, and a button that copies what it is about', async (t) => {
  const { page, problems } = await openTab(t);
  await waitFor(async () => {
    await page.goto(`${gateway.url}/explorer?q=${WALLET}`);
    await untilShown(part(page, 'History').locator('tbody tr'));
    return (await part(page, 'History').locator('td bdi').count()) > 0;
  }, 'a memo among the newest');
  t.match(await part(page, 'History').locator('td bdi').first().textContent(), /^“(invoice \d+|too long to run)”$/);
  const copy = part(page, 'History').locator('tbody tr').first().locator('button.copy');
  await copy.hover();
  await copy.click();
  await part(page, 'History').locator('button.copied').waitFor();
  t.equal(
    await copy.getAttribute('data-copy'),
    await part(page, 'History').locator('tbody a').first().getAttribute('title'),
  );
  const named = page.locator('.below .copy');
  await named.dblclick();
  await waitFor(async () => (await named.textContent()) === 'Copied', 'the word for it');
  await waitFor(async () => (await named.textContent()) === 'Copy', 'its own word, after two clicks, too');
  await page.locator('.qr summary').click();
  await page.getByRole('img', { name: 'QR code of this address' }).waitFor();
  t.same(problems, []);
});

t.test('of two histories requested one after the other the later is shown, whichever answers last', async (t) => {
  await waitFor(async () => (await get(`/address/${WALLET}/history`)).json.result?.rows.length > 3, 'some history');
  const { page, problems } = await openTab(t);
  await page.goto(`${gateway.url}/explorer?q=${WALLET}`);
  await untilShown(part(page, 'History').locator('tbody tr'));
  const held = await holdAnswers(page, /history\?/);
  await part(page, 'History').locator('button:text("Changes")').click();
  await part(page, 'History').locator('button:text("Signatures")').click();
  await waitFor(() => held.length === 2, 'both requests');
  t.equal(await isBusy(page, 'History'), 1, 'it says that it waits');
  const [changes, signatures] = held;
  await signatures?.continue();
  await waitFor(async () => (await isBusy(page, 'History')) === 0, 'the signatures');
  const late = page.waitForResponse(/type=transfers/);
  await changes?.continue();
  await (await late).finished();
  await page.waitForTimeout(300); // the answer is verified before it could be shown
  t.same(await columns(page, 'History'), ['Transaction', 'Status', 'Time', 'Slot', 'Memo']);
  t.equal(await part(page, 'History').locator('[aria-pressed=true]').textContent(), 'Signatures');
  t.same(problems, []);
});

t.test('a history offers what is new, and shows it when its reader wants to', async (t) => {
  const { page, problems } = await openTab(t);
  await page.setViewportSize({ width: 390, height: 900 });
  await page.clock.install();
  await countLayoutShifts(page);
  await page.goto(`${gateway.url}/explorer?q=${WALLET}`);
  const newest = part(page, 'History').locator('tbody td:first-child').first();
  await untilShown(newest);
  const before = await newest.textContent();
  const fresh = part(page, 'History').locator('.fresh');
  await waitFor(async () => {
    await sleep(3000); // what is new comes in real time: a page of which the clock runs far ahead believes no receipt
    await page.clock.runFor(10_000);
    await restoreDate(page);
    return fresh.isVisible();
  }, 'something new');
  t.match(await fresh.textContent(), /^\d+\+? new$/);
  t.equal(await newest.textContent(), before, 'what is read stays');
  t.same(await shiftedElements(page), [], 'nothing moves');
  await fresh.click();
  await waitFor(async () => (await newest.textContent()) !== before, 'what is new');
  t.notOk(await fresh.isVisible());
  t.same(problems, []);
});

t.test('what no demo cluster has: a history that begins, an epoch of a warm-up, several leaders', async (t) => {
  const found = { exists: true, kind: 'native-program', domain: null, name: null, alternatives: [] };
  const row = { slot: 1_234_567, err: null, memo: null, blockTime: 1, confirmationStatus: 'confirmed' };
  const estimatedEndTime = Math.floor(Date.now() / 1000) + 3600;
  let rows: readonly unknown[] = [];
  const { page } = await openTab(t);
  await page.clock.install();
  await countLayoutShifts(page);
  await answerWith(page, {
    'search?*': (path) =>
      path.includes('epoch')
        ? {
            ...found,
            query: '',
            type: 'epoch',
            id: /\d+$/.exec(decodeURIComponent(path))?.[0] ?? '',
            path: '/api/v1/block/0',
          }
        : { ...found, query: UNUSED, type: 'address', id: UNUSED, path: `/api/v1/account/${UNUSED}` },
    'account/*': () => null,
    'address/*/history?*': () => ({ rows, nextBefore: null }),
    'leaders/*': () => [
      { slot: 2_000_000, leader: WALLET },
      { slot: 2_000_003, leader: UNUSED },
    ],
    epoch: () => ({
      epoch: 14,
      slotIndex: 1,
      slotsInEpoch: 432_000,
      absoluteSlot: 524_257,
      epochProgress: 0,
      estimatedEndTime,
    }),
  });
  await page.goto(`${gateway.url}/explorer?q=${UNUSED}`);
  await part(page, 'History').locator('p:text("No transactions.")').waitFor();
  for (const count of [2, 25]) {
    rows = Array.from({ length: count }, (_, each) => ({ ...row, signature: `${each}`.padEnd(88, '1') }));
    await page.clock.runFor(10_000);
    await restoreDate(page);
    await part(page, 'History').locator(`.fresh:text-is("${count} new")`).waitFor();
  }
  await page.waitForTimeout(300); // for the frame that would move something
  t.same(await page.evaluate('shiftedBy'), [], 'not even the box around its buttons moves');
  const memos = ['[2] (unparsable); [3] old', '[2] (unparsable); [2] (unparsable)', '[12] (unparsable)'];
  rows = memos.map((memo, each) => ({ ...row, memo, signature: `${each}`.padEnd(88, '1') }));
  await page.reload();
  await untilShown(part(page, 'History').locator('tbody tr'));
  t.same(await part(page, 'History').locator('td:last-child').allTextContents(), [
    '“old”',
    'not text',
    '“(unparsable)”',
  ]);
  await page.goto(`${gateway.url}/explorer?q=epoch%200`);
  await part(page, 'Epoch').locator('dt').first().waitFor();
  t.match(await part(page, 'Epoch').textContent(), /StateoverFirst slot0Last slot31Current epoch14$/);
  await page.goto(`${gateway.url}/explorer?q=epoch%2014`);
  const end = part(page, 'Epoch').locator('dt:text-is("Ends") + dd');
  await end.waitFor();
  const words = await end.textContent();
  await page.clock.runFor(2000);
  await waitFor(async () => (await end.textContent()) !== words, 'a time that counts down');
  const json = { error: 'slot_skipped', message: 'in words of the gateway' };
  await page.route('**/api/v1/block/**', (route) => route.fulfill({ status: 404, json }));
  await page.goto(`${gateway.url}/explorer?q=2000000`);
  await part(page, 'Block').locator('dt').first().waitFor();
  const leaders = `Leader${shorten(WALLET)}Leaders after it${shorten(UNUSED)} 3 slots later`;
  t.match(await part(page, 'Block').textContent(), leaders);
});

t.test('a further page that was requested before the reader chose another table does not come back', async (t) => {
  await waitFor(
    async () => (await get(`/address/${WALLET}/history?limit=26`)).json.result?.rows.length > 25,
    '26 rows',
  );
  const { page } = await openTab(t);
  await page.goto(`${gateway.url}/explorer?q=${WALLET}`);
  const held = await holdAnswers(page, /history\?.*before=/);
  await part(page, 'History').locator('button:text("More")').click();
  await waitFor(() => held.length === 1, 'the request');
  await part(page, 'History').locator('button:text("Changes")').click();
  await untilShown(part(page, 'History').locator('th:text("Change")'));
  const late = page.waitForResponse(/before=/);
  await held[0]?.continue();
  await (await late).finished();
  await page.waitForTimeout(300); // the answer is verified before it could be shown
  t.same(await columns(page, 'History'), ['What', 'Change', 'Status', 'Time', 'Transaction']);
});

t.test('what comes late moves nothing', async (t) => {
  const { page } = await openTab(t);
  await page.setViewportSize({ width: 320, height: 900 });
  await page.clock.install();
  await countLayoutShifts(page);
  let held: Route | undefined;
  /** Holds the first answer to requests like this; the client's second attempt would not be held. */
  const holdFirst = (pattern: RegExp): Promise<unknown> => {
    held = undefined;
    return page.route(pattern, (route) => {
      if (held === undefined) held = route;
      else void route.continue();
    });
  };
  await holdFirst(/\/portfolio/);
  await page.goto(`${gateway.url}/explorer?q=${WALLET}`);
  await part(page, 'Balance').locator('text=/lamports, live$/').waitFor();
  await part(page, 'Portfolio').waitFor();
  await page.clock.runFor(8000);
  await untilShown(part(page, 'History').locator('tbody tr'));
  await held?.continue();
  await untilShown(part(page, 'Portfolio').locator('td'));
  t.same(await shiftedElements(page), [], 'of an address');
  const scrolls = (selector: string) =>
    page.locator(selector).evaluate(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight);
  t.ok(await scrolls('.late > div'), 'a late part scrolls');
  t.notOk(await scrolls('.late'), 'below its header, whose buttons no scrollbar moves');

  await holdFirst(/\/block\//);
  await page.goto(`${gateway.url}/explorer`);
  await part(page, 'Newest blocks').waitFor();
  await waitFor(() => held !== undefined, 'the request of a block');
  await page.clock.runFor(8000);
  await part(page, 'Try one of these').locator('.examples a').first().waitFor();
  await held?.continue();
  await untilShown(part(page, 'Try one of these').locator('a:text("A recent block")'));
  t.ok((await part(page, 'Newest blocks').locator('tbody tr').count()) > 1, 'more than the newest block');
  t.same(await shiftedElements(page), [], 'of the start');

  await page.unroute(/\/block\//);
  const { slot } = await findTransaction(false);
  const { blockTime } = (await get(`/block/${slot}`)).json.result;
  await page.goto(`${gateway.url}/explorer?q=${slot}`);
  await untilShown(part(page, 'Transactions').locator('tbody tr'));
  const ago = page.locator('.chips time span');
  // The page shows ages by the gateway's clock, which it has from the time of its first answer on.
  const aheadMs = Number(await page.evaluate('Date.now()')) - Date.now();
  const ages = new Set<string | null>();
  for (let ageMs = 235_000; ageMs < 245_000 && !ages.has('· 4 m ago'); ageMs += 250) {
    await page.clock.setFixedTime(blockTime * 1000 + ageMs + aheadMs);
    await page.clock.runFor(1000);
    ages.add(await ago.textContent());
  }
  t.ok(ages.has('· 3 m 59 s ago') && ages.has('· 4 m ago'), `${[...ages]}`);
  t.same(await shiftedElements(page), [], 'nor of a block while its age grows shorter in words');
});

t.test('a balance is shown where no stream is to be had', async (t) => {
  const { gateway: closed } = await startGateway(t, nodes, { set: ['limits.free.streams=0'] });
  const { page } = await openTab(t);
  await page.goto(`${closed.url}/explorer`);
  await untilShown(page.locator('.examples a:text("A recent block")'));
  await page.fill('#q', WALLET);
  await page.press('#q', 'Enter');
  await untilShown(page.locator('.balance'));
  t.match(await part(page, 'Balance').locator('p.muted').textContent(), /lamports$/, 'and is not called live');
  const { page: live } = await openTab(t);
  await live.goto(`${gateway.url}/explorer?q=${WALLET}`);
  await part(live, 'Balance').locator('text=/lamports, live$/').waitFor();
});

t.test('a line of a log is one line, and turns no direction', async (t) => {
  const { signature } = await findTransaction(false);
  const { result } = (await get(`/tx/${signature}?enhanced=1`)).json;
  const { logMessages } = result.meta as { logMessages: string[] };
  logMessages.splice(1, 0, 'Program log: a\nProgram b success\u202e');
  const { page } = await openTab(t);
  await answerWith(page, { 'tx/*': () => result });
  await page.goto(`${gateway.url}/explorer?q=${signature}`);
  const log = part(page, 'Instructions').locator('.log').first();
  await log.locator('summary').click();
  t.match((await log.locator('pre').textContent())?.split('\n')[1], 'Program log: a\\nProgram b success\\u202e');
});

t.test('a transaction that could not be read is read again', async (t) => {
  const { result } = (await get(`/address/${WALLET}/history`)).json;
  const { page } = await openTab(t);
  const held = await holdAnswers(page, /\/tx\//);
  await page.goto(`${gateway.url}/explorer?q=${result.rows[0].signature}`);
  await waitFor(() => held.length === 1, 'the request');
  const refusal = { success: false, error: { code: 'tx_not_found', message: 'Not yet.', retryable: false } };
  await held[0]?.fulfill({ status: 404, json: refusal });
  const again = page.locator('.part button:text("Try again")');
  await again.click();
  await waitFor(() => held.length === 2, 'another request');
  await held[1]?.continue();
  await part(page, 'Overview').locator('dt').first().waitFor();
  t.equal(await again.count(), 0);
  t.equal(held.length, 2);
});

interface Instruction {
  readonly programId: string;
}

interface HistoryRow {
  readonly signature: string;
  readonly slot: number;
  readonly err: unknown;
}

/** A transaction of the wallet that failed, or that did not. */
async function findTransaction(isFailed: boolean): Promise<HistoryRow> {
  let found: HistoryRow | undefined;
  await waitFor(async () => {
    const rows: readonly HistoryRow[] = (await get(`/address/${WALLET}/history?limit=100`)).json.result?.rows ?? [];
    found = rows.find(({ err }) => (err !== null) === isFailed);
    return found !== undefined;
  }, 'a transaction');
  return found ?? { signature: '', slot: 0, err: null };
}

t.test('each member of a transaction with its meaning is shown', async (t) => {
  const { signature } = await findTransaction(false);
  const { result } = (await get(`/tx/${signature}?enhanced=1`)).json;
  const { enhanced } = result;
  // not an instruction with a limit of its own: the page shows the first
  const instruction = enhanced.instructions.find((each: Instruction) => each.programId !== COMPUTE_BUDGET_PROGRAM);
  /** The highest u64 is what a wallet approves without a limit, and the epoch of a stake that has not ended. */
  const info = { authority: WALLET, units: 7, amount: `${2n ** 64n - 1n}`, deactivationEpoch: `${2n ** 64n - 1n}` };
  const inner = { ...instruction, index: 0, programName: 'Inner program', type: 'innerCall', info };
  const amount = { mint: WALLET, amount: '5', decimals: 1 };
  const change = { userAccount: WALLET, tokenAccount: WALLET, mint: WALLET };
  const right = { kind: 'token-account', authorityType: 'the right of a test', programId: WALLET, account: WALLET };
  const swap = {
    tokenInputs: [],
    tokenOutputs: [],
    nativeInput: { account: WALLET, amount: '77' },
    nativeOutput: null,
  };
  /** It checks two signatures. */
  const precompile = { programId: 'Ed25519SigVerify111111111111111111111111111', data: bs58.encode([2, 0, 16, 0]) };
  const limit = { programId: COMPUTE_BUDGET_PROGRAM, type: 'setComputeUnitLimit', info: { units: 86_420 } };
  // each member has a value that nothing else on the page has
  const whole = {
    ...enhanced,
    description: 'A sentence of the test',
    type: 'FILL_ORDER',
    source: 'SOME_MARKET',
    fee: 123_456,
    priorityFee: 98_765,
    computeUnitsConsumed: 43_210,
    slot: 1_234_567,
    feePayer: WALLET,
    signers: [WALLET],
    nativeTransfers: [{ fromUserAccount: WALLET, toUserAccount: WALLETS[1]?.address ?? '', amount: '1110000000' }],
    tokenTransfers: [
      {
        fromUserAccount: WALLET,
        toUserAccount: signature.slice(0, 44),
        fromTokenAccount: null,
        toTokenAccount: null,
        mint: WALLET,
        amount: '2220',
        decimals: 1,
        uiAmount: '222',
        feeAmount: null,
        program: 'spl-token',
      },
    ],
    confidentialTransfers: [
      {
        type: 'deposit',
        mint: null,
        fromUserAccount: null,
        toUserAccount: null,
        fromTokenAccount: null,
        toTokenAccount: null,
        amount: '333',
        instructionIdx: 0,
        innerInstructionIdx: null,
      },
    ],
    authorityChanges: [right],
    actions: [
      {
        kind: 'transfer',
        actor: WALLET,
        counterparty: null,
        given: [{ ...amount, amount: '4440' }],
        got: [],
        withheld: null,
        program: null,
        instruction: null,
        role: 'delegate',
        authority: null,
      },
    ],
    unaccounted: [{ userAccount: WALLET, mint: WALLET, amount: '5550', decimals: 1 }],
    accountData: [
      {
        account: WALLET,
        nativeBalanceChange: '6660000000',
        tokenBalanceChanges: [{ ...change, rawTokenAmount: { tokenAmount: '-8880', decimals: 1 } }],
      },
    ],
    instructions: [
      { ...instruction, innerInstructions: [inner] },
      { ...instruction, ...precompile, type: null, info: null, innerInstructions: [] },
      { ...instruction, ...limit, innerInstructions: [] },
    ],
    events: { swap },
  };
  let shownMembers: object = whole;
  const { page } = await openTab(t);
  await answerWith(page, {
    'tx/*': () => ({ ...result, enhanced: shownMembers }),
    'token/*': (path) => ({ metadata: null, priceUsd: path.endsWith(WRAPPED_SOL) ? 150 : null }),
  });
  await page.goto(`${gateway.url}/explorer?q=${signature}`);
  await part(page, 'Record').waitFor();
  await page.evaluate('for (const each of document.querySelectorAll("main details:not(.raw)")) each.open = true');
  const shown = (await page.locator('main').allInnerTexts()).join();
  const expected: Readonly<Record<string, RegExp>> = {
    description: /A sentence of the test/,
    type: /Fill order/,
    source: /Some market/,
    status: /✓ Success/,
    fee: /0\.000123456 SOL · \$0\.019 · base 0\.000015 \+ priority 0\.000108456 · /,
    feePayer: /Fee payer/,
    signers: /Signers/,
    signature: new RegExp(signature),
    slot: /1,234,567/,
    timestamp: / ago/,
    computeUnitsConsumed: /43,210 of 86,420 CU · 50\.0%/,
    priorityFee: /98,765 µLam/,
    nativeTransfers: /1\.11 SOL · \$166\.50[\s\S]*by the prices of now/,
    tokenTransfers: /222 /,
    confidentialTransfers: /Hidden amounts/,
    authorityChanges: /the right of a test/,
    actions: /444 /,
    unaccounted: /555 /,
    accountData: /6\.66 SOL/,
    instructions: /Inner program[\s\S]*Amount\s+18446744073709551615\s+Deactivation epoch\s+never/,
    isIncomplete: /^/, // the description says it
    transactionError: /^/, // of a transaction that failed: the next test
    events: /Swap event/,
  };
  t.same(Object.keys(expected).sort(), Object.keys(whole).sort());
  for (const [member, pattern] of Object.entries(expected)) t.match(shown, pattern, member);
  t.equal(await part(page, 'Overview').locator('.share').count(), 1, 'a bar of the compute units');
  t.equal(await page.locator('.flow .ribbon').count(), 2, 'with a picture of who gave what to whom');
  t.same(await accessibilityViolations(page), []);

  const call = {
    ...instruction,
    index: 0,
    programName: null,
    type: null,
    name: '\u202e” · paid by \u0000you',
  };
  const transactionError = {
    instructionIndex: 0,
    programId: call.programId,
    code: 7,
    name: null,
    message: 'It failed',
  };
  shownMembers = { ...whole, status: 'failed', instructions: [call], transactionError };
  await page.goto(`${gateway.url}/explorer?q=${signature}`);
  await page.locator('.failure').waitFor();
  const reason = await page.textContent('.failure');
  t.match(reason, /^instruction 1 of 1, [^:]+: “[^“”]+ · paid by [^“”]+” · error 7 · the fee of /, 'quoted');
  t.notMatch(reason, /[\0\u202e]/);
});

t.test('a failed transaction says so first, with its reason and where it failed', async (t) => {
  const { signature } = await findTransaction(true);
  const { description, transactionError, instructions } = (await get(`/tx/${signature}?enhanced=1`)).json.result
    .enhanced;
  const { page, problems } = await openTab(t);
  await page.goto(`${gateway.url}/explorer?q=${signature}`);
  await page.locator('h1:has-text("Failed: ")').waitFor();
  t.match(await page.textContent('h1'), /^Failed: \w/);
  t.equal(await page.locator('.title .chip').first().textContent(), '✗ Failed');
  const failed = transactionError.instructionIndex + 1;
  t.match(await page.textContent('.failure'), `instruction ${failed} of ${instructions.length}, `);
  t.match(await page.textContent('.failure'), /the fee of [\d.]+ SOL was paid/);
  await page.locator('.calls > .wrong .log pre').waitFor();
  t.match(await page.locator('.calls > .wrong .log pre').textContent(), /failed/);
  t.notMatch((await page.locator('main').allInnerTexts()).join(), /What it did|✓ Success/);
  t.type(description, 'string');
  t.same(problems, []);
});

t.test('a slot without a block says why: skipped, still to come, or older than what is kept', async (t) => {
  const { page } = await openTab(t);
  const words = async (slot: number): Promise<string> => {
    await page.goto(`${gateway.url}/explorer?q=${slot}`);
    await part(page, 'Block').locator('p:not(:text("Loading")), dt').first().waitFor();
    return (await part(page, 'Block').textContent()) ?? '';
  };
  const newest: number = (await get('/slot')).json.result;
  let code = '';
  await page.route('**/api/v1/block/**', (route) =>
    route.fulfill({ status: 404, json: { error: code, message: 'in words of the gateway' } }),
  );
  for (const [error, slot, expected] of [
    ['slot_skipped', newest, /In words of the gateway\./], // which may not know whether its leader skipped it
    ['block_not_available', newest + 1000, /still to come: in about \d+ m/],
    ['block_not_available', newest, /so new that no node has its block yet/],
    ['block_pruned', 5, /In words of the gateway\./],
  ] as const) {
    code = error;
    t.match(await words(slot), expected);
  }
  await page.clock.install();
  code = 'block_not_available';
  await words(newest + 100);
  const leader = part(page, 'Block').locator('dt:text-is("Leader") + dd a');
  await untilShown(leader);
  await leader.focus();
  const held = await holdAnswers(page, /\/leaders\//);
  const before = await part(page, 'Block').locator('p').textContent();
  await waitFor(async () => {
    await page.clock.runFor(10_000);
    await restoreDate(page);
    return (await part(page, 'Block').locator('p').textContent()) !== before;
  }, 'a later look, with fewer slots to come');
  t.ok(await leader.isVisible(), 'its leader stays');
  t.equal(await page.evaluate('document.activeElement.title'), await leader.getAttribute('title'), 'with the focus');
  t.equal(held.length, 0, 'and is requested once');
  await page.unroute(/\/leaders\//);
  await page.route('**/api/v1/leaders/**', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).replace('"slot":', '"slot":1') });
  });
  await page.goto(`${gateway.url}/explorer?q=${newest + 101}`);
  await part(page, 'Block').locator('.failed:text("This answer was refused")').waitFor();
  await page.unroute('**/api/v1/leaders/**');
  await words(newest);
  await page.unroute('**/api/v1/block/**');
  await waitFor(async () => {
    await sleep(3000); // as above
    await page.clock.runFor(10_000);
    await restoreDate(page);
    return part(page, 'Block').locator('dt').first().isVisible();
  }, 'the block, as soon as there is one');
});

t.test('Back shows a view as it was, More keeps the focus, and the URL has the table that was chosen', async (t) => {
  const changes = async (before = ''): Promise<{ nextBefore: string | null } | undefined> =>
    (await get(`/address/${WALLET}/history?limit=10&type=transfers${before}`)).json.result;
  const hasThreePages = async (): Promise<boolean> => {
    const { nextBefore = null } = (await changes()) ?? {};
    return nextBefore !== null && ((await changes(`&before=${nextBefore}`))?.nextBefore ?? null) !== null;
  };
  await waitFor(hasThreePages, 'three pages of changes');
  const { page } = await openTab(t);
  await page.clock.install();
  await page.setViewportSize({ width: 900, height: 600 });
  await page.goto(`${gateway.url}/explorer?q=${WALLET}`);
  await part(page, 'History').locator('button:text("Changes")').click();
  await untilShown(part(page, 'History').locator('th:text("Change")'));
  t.equal(new URL(page.url()).searchParams.get('view'), 'changes');
  const more = part(page, 'History').locator('.more');
  await page.route(/before=/, (route) =>
    route.fulfill({ status: 400, json: { error: 'cursor_not_found', message: 'not now' } }),
  );
  await more.focus();
  await page.keyboard.press('Enter');
  await part(page, 'History').locator('.failed:text-is("Not now")').waitFor();
  t.equal(await more.textContent(), 'Try again');
  await page.unroute(/before=/);
  await page.keyboard.press('Enter');
  await waitFor(async () => (await part(page, 'History').locator('table').count()) === 2, 'the second page');
  t.equal(await page.evaluate('document.activeElement.className'), 'more');
  const openLast = async (): Promise<void> => {
    await part(page, 'History').locator('tr:last-child td:last-child a').last().click();
    await untilShown(part(page, 'Overview'));
  };
  const untilWhereItWas = (): Promise<void> =>
    waitFor(async () => Number(await page.evaluate('scrollY')) > 300, 'the place where it was left');
  await openLast();
  await page.goBack();
  await waitFor(async () => (await part(page, 'History').locator('table').count()) === 2, 'both pages');
  await untilWhereItWas();
  t.equal(await page.title(), `${shorten(WALLET)} · slotgate`, 'its title');
  t.match(await page.evaluate('document.activeElement.title'), /^\w{86,88}$/, 'and the followed link has the focus');
  await page.reload();
  await untilShown(part(page, 'History').locator('th:text("Change")'));
  await untilWhereItWas();
  await openLast();
  // A minute later for what Back keeps. For all that the page does, its receipts would be a minute old, too.
  await page.evaluate(`{
    const now = performance.now.bind(performance);
    addEventListener('popstate', () => { performance.now = () => now() + 61_000; }, { capture: true, once: true });
    addEventListener('popstate', () => { performance.now = now; }, { once: true });
  }`);
  await page.goBack();
  await untilShown(part(page, 'History').locator('th:text("Change")'));
  await untilWhereItWas();
});

t.test('a view that Back shows is live again, and one that was left half loaded loads', async (t) => {
  const { page, problems } = await openTab(t);
  const sockets = countSockets(page);
  await page.goto(`${gateway.url}/explorer?q=${WALLET}`);
  await part(page, 'Balance').locator('text=/lamports, live$/').waitFor();
  await untilShown(part(page, 'Token accounts').locator('td, p'));
  await waitFor(async () => (await page.locator('[aria-busy=true]').count()) === 0, 'all parts');
  await page.evaluate('document.querySelector(".part").id = "kept"');
  const held = await holdAnswers(page, /\/block\//);
  await part(page, 'History').locator('a:text-matches("^[0-9,]+$")').first().click();
  await waitFor(() => held.length > 0, 'the request of the block');
  await page.goBack();
  await page.locator('#kept').waitFor();
  await waitFor(() => sockets.opened === 2 && sockets.closed === 1, 'another line');
  await page.unrouteAll();
  await page.goForward();
  await untilShown(part(page, 'Transactions').locator('tbody tr'));
  const slot = Number(new URL(page.url()).searchParams.get('q'));
  await part(page, 'Transactions').locator('tbody a').first().click();
  await untilShown(part(page, 'Overview'));
  await page.goBack();
  await untilShown(part(page, 'Transactions').locator('tbody tr'));
  await page.locator('h1').click();
  await page.keyboard.press('ArrowRight');
  await page.waitForURL(new RegExp(`q=${slot + 1}$`));
  const unexpected = problems.filter((problem) => !/status of 404/.test(problem));
  t.same(unexpected, []);
});

t.test('the transactions of a block are filtered, and the URL has the filter', async (t) => {
  const { slot } = await findTransaction(true);
  const { page, problems } = await openTab(t);
  await page.goto(`${gateway.url}/explorer?q=${slot}`);
  const pressed = part(page, 'Transactions').locator('[aria-pressed=true]');
  const failed = part(page, 'Transactions').locator('.tabs button:text("Failed ")');
  await untilShown(failed);
  t.match(await pressed.textContent(), /^All \d+$/);
  await failed.click();
  const words = await failed.textContent();
  t.equal(await pressed.textContent(), words);
  t.equal(new URL(page.url()).searchParams.get('show'), 'failed');
  await page.reload();
  await untilShown(failed);
  t.equal(await pressed.textContent(), words);
  t.equal(await part(page, 'Transactions').locator('tbody tr').count(), Number(/\d+$/.exec(words ?? '')?.[0]));
  await page.goto(`${gateway.url}/explorer?q=${slot}&show=nothing`);
  await untilShown(failed);
  t.match(await pressed.textContent(), /^All \d+$/, 'what is no filter shows all');
  t.match(await part(page, 'Block').textContent(), /Fees[\d.]+ SOL base [\d.]+priority [\d.]+/);
  t.same(problems, []);
});

t.test('a portfolio says that its balance has changed, and a balance whose stream is lost is not live', async (t) => {
  const proxy = await openTamperingProxy(t, gateway.url);
  const { page } = await openTab(t);
  await page.goto(`${proxy.url}/explorer?q=${WALLET}`);
  const note = part(page, 'Balance').locator('p.muted');
  await untilShown(part(page, 'Balance').locator('text=/lamports, live$/'));
  const again = part(page, 'Portfolio').locator('.fresh');
  await untilShown(again);
  const held = part(page, 'Portfolio').locator('tbody td:nth-child(2)').first();
  const before = await held.textContent();
  await again.click();
  await waitFor(async () => (await held.textContent()) !== before, 'the holdings of now');
  proxy.gateway = 'http://127.0.0.1:1'; // nothing listens there
  proxy.cut();
  await waitFor(async () => /lamports$/.test((await note.textContent()) ?? ''), 'a balance that is not called live');
});

t.test('what has the focus keeps it when newer values are shown', async (t) => {
  const { page } = await openTab(t);
  const focused = (): Promise<unknown> =>
    page.evaluate('document.activeElement.title || document.activeElement.ariaLabel');
  await page.goto(`${gateway.url}/explorer`);
  const first = part(page, 'Newest blocks').locator('tbody a').first();
  await untilShown(first);
  await first.focus();
  const slot = await focused();
  await waitFor(async () => (await first.getAttribute('title')) !== slot, 'a newer block');
  t.equal(await focused(), slot);
  await page.goto(`${gateway.url}/explorer?q=${WALLET}`);
  const balance = part(page, 'Balance').locator('.balance');
  await untilShown(balance);
  const before = await balance.textContent();
  await balance.locator('button').focus();
  await waitFor(async () => (await balance.textContent()) !== before, 'another balance');
  t.equal(await focused(), 'Copy the balance');
});

t.test('what the start page could not read is read again', async (t) => {
  const { page } = await openTab(t);
  await page.clock.install();
  let isDown = true;
  await page.route('**/api/v1/health', (route) => (isDown ? route.abort() : route.continue()));
  const refusal = { success: false, error: 'upstream_unavailable', message: 'no node answers' };
  await page.route('**/api/v1/slot', (route) =>
    isDown ? route.fulfill({ status: 503, json: refusal }) : route.continue(),
  );
  await page.goto(`${gateway.url}/explorer`);
  const again = (title: string) => part(page, title).locator('button:text("Try again")');
  await again('Gateway').waitFor();
  t.match(await part(page, 'Gateway').textContent(), 'No answer from the gateway.');
  await page.unroute('**/api/v1/health');
  await again('Gateway').click();
  await again('Newest blocks').waitFor();
  await part(page, 'Try one of these').locator('.examples a').first().waitFor();
  isDown = false;
  await again('Newest blocks').click();
  const rows = part(page, 'Newest blocks').locator('tbody tr');
  await untilShown(rows);
  isDown = true;
  await page.mouse.move(0, 0); // a list that is pointed at stays
  for (const _ of [1, 2]) await page.clock.fastForward(5000);
  await again('Newest blocks').waitFor();
  t.match(await part(page, 'Newest blocks').textContent(), 'No node answers');
  isDown = false;
  await again('Newest blocks').click();
  await untilShown(rows);
});

t.test('a page that was open while its gateway got another cluster offers to show that one', async (t) => {
  const { page } = await openTab(t);
  await page.route('**/api/v1/health', (route) => route.fulfill({ json: { result: { cluster: CLUSTER } } }));
  await page.goto(`${gateway.url}/explorer?q=5`);
  await part(page, 'Block').locator('.failed:text("about another cluster than yours")').waitFor();
  await page.unroute('**/api/v1/health');
  await part(page, 'Block').locator('button:text("Show that cluster")').click();
  await untilShown(part(page, 'Block').locator('dt, p:not(.failed):not(:text("Loading"))'));
});

t.test('the search suggests what a text is, by keyboard', async (t) => {
  const { page } = await openTab(t);
  await page.goto(`${gateway.url}/explorer`);
  await page.locator('#start-search #q').waitFor();
  await page.fill('#q', 'usd');
  await page.locator('#suggestions li').first().waitFor();
  t.match(await page.textContent('#suggestions'), /USDC · token/);
  await page.fill('#q', 'stake p');
  t.match(await page.textContent('#suggestions'), /Stake program/);
  await page.fill('#q', '12345');
  t.match(await page.textContent('#suggestions li'), /^Slot 12,345/);
  await page.keyboard.press('ArrowDown');
  t.equal(await page.getAttribute('#q', 'aria-activedescendant'), 'suggestion-0');
  t.same(await accessibilityViolations(page), []);
  await page.keyboard.press('Enter');
  await page.locator('h1:text("Slot 12,345")').waitFor();
  t.equal(await page.locator('#suggestions li').count(), 0);
});
