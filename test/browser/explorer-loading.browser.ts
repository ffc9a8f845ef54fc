import bs58 from 'bs58';
import type { Page, Route } from 'playwright-core';
import t from 'tap';
import { startEmbeddedCluster } from '../../src/localnet/embedded-cluster.ts';
import { NONCE, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { shorten } from '../../src/pages/format/figures.ts';
import { WRAPPED_SOL } from '../../src/shared/domain/known-mints.ts';
import { TOKEN_PROGRAM } from '../../src/shared/domain/well-known-addresses.ts';
import { startGateway, waitFor } from '../support/harness.ts';
import { pluck } from '../support/pluck.ts';
import { CLUSTER, newSigner, sealAnswers } from '../support/receipts/sealed-answers.ts';
import { openTab } from './chromium.ts';
import {
  accessibilityViolations,
  countLayoutShifts,
  countSockets,
  restoreDate,
  shiftedElements,
  untilShown,
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

const part = (page: Page, title: string) => page.locator(`.part[aria-label="${title}"]`);
const columns = (page: Page, title: string) => part(page, title).locator('thead th').allTextContents();
const isBusy = (page: Page, title: string) => part(page, title).locator('[aria-busy=true]').count();

t.test('each example of the start page exists', async (t) => {
  const { page } = await openTab(t);
  await page.goto(`${gateway.url}/explorer`);
  await untilShown(page.locator('.examples a:text("A failed transaction"), .examples a:text("A recent block")'));
  const links = await page
    .locator('.examples a')
    .evaluateAll((found) => found.map((link) => [link.textContent] as const));
  t.ok(links.length >= 9, `${links.length} examples`);
  for (const [text] of links) {
    await page
      .locator('.examples')
      .getByText(text ?? '', { exact: true })
      .click();
    t.ok(await untilShown(page.locator('.part dt, .part .balance, .part nav')), `${text} is there`);
    await page.goBack();
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
  t.match(await read(UNUSED), /it holds no SOL, no tokens, and no transaction names it/);
  t.equal(await page.locator('.part').count(), 1);
  t.match(await read('epoch 2', 'Epoch'), /StateoverFirst slot16,384Last slot24,575Current epoch\d+$/);
  await part(page, 'Epoch').locator('a').last().click();
  t.match(await read(`epoch ${Number((await get('/epoch')).json.result.epoch)}`, 'Epoch'), /StatecurrentEnds/);
});

t.test('a row has its memo without what a node adds, and a button that copies what it is about', async (t) => {
  const memos = async (): Promise<readonly (string | null)[]> =>
    pluck((await get(`/address/${WALLET}/history?limit=20`)).json.result?.rows ?? [], 'memo');
  await waitFor(async () => (await memos()).some((memo) => memo !== null), 'a memo');
  const { page, problems } = await openTab(t);
  await page.goto(`${gateway.url}/explorer?q=${WALLET}`);
  await untilShown(part(page, 'History').locator('td bdi'));
  t.match(await part(page, 'History').locator('td bdi').first().textContent(), /^“invoice \d+”$/);
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
  t.same(await columns(page, 'History'), ['Transaction', 'Time', 'Status', 'What', 'Change']);
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

/** A transaction of the wallet that failed, or that did not. */
async function findSignature(isFailed: boolean): Promise<string> {
  let found: string | undefined;
  await waitFor(async () => {
    const { rows } = (await get(`/address/${WALLET}/history?limit=100`)).json.result;
    found = rows.find(({ err }: { readonly err: unknown }) => (err !== null) === isFailed)?.signature;
    return found !== undefined;
  }, 'a transaction');
  return found ?? '';
}

t.test('each member of a transaction with its meaning is shown', async (t) => {
  const signature = await findSignature(false);
  const { result } = (await get(`/tx/${signature}?enhanced=1`)).json;
  const { enhanced } = result;
  const signer = newSigner();
  const info = { authority: WALLET, units: 7 };
  const inner = { ...enhanced.instructions[0], index: 0, programName: 'Inner program', type: 'innerCall', info };
  const amount = { mint: WALLET, amount: '5', decimals: 1 };
  const change = { userAccount: WALLET, tokenAccount: WALLET, mint: WALLET };
  const right = { kind: 'token-account', authorityType: 'the right of a test', programId: WALLET, account: WALLET };
  const swap = {
    tokenInputs: [],
    tokenOutputs: [],
    nativeInput: { account: WALLET, amount: '77' },
    nativeOutput: null,
  };
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
    instructions: [{ ...enhanced.instructions[0], innerInstructions: [inner] }],
    events: { swap },
  };
  const answer = (path: string, answered: unknown) => {
    const statement = { slot: 1_234_567, commitment: 'confirmed', claim: 'observed', nonce: null } as const;
    const sealed = { ...statement, request: `GET /api/v1/${path}`, result: JSON.stringify(answered) };
    return { body: sealAnswers(signer, [sealed], Date.now())[0] ?? '', contentType: 'application/json' };
  };
  let shownMembers: object = whole;
  const { page } = await openTab(t);
  await page.route('**/api/v1/pubkey', (route) => route.fulfill({ json: { publicKey: signer.publicKey } }));
  await page.route('**/api/v1/health', (route) => route.fulfill({ json: { result: { cluster: CLUSTER } } }));
  await page.route('**/api/v1/tx/**', (route) =>
    route.fulfill(answer(`tx/${signature}?enhanced=1`, { ...result, enhanced: shownMembers })),
  );
  await page.route('**/api/v1/token/**', (route) => {
    const isSol = route.request().url().endsWith(WRAPPED_SOL);
    const path = new URL(route.request().url()).pathname.replace('/api/v1/', '');
    return route.fulfill(answer(path, { metadata: null, priceUsd: isSol ? 150 : null }));
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
    fee: /0\.000123456 SOL · \$0\.019 · /,
    feePayer: /Fee payer/,
    signers: /Signers/,
    signature: new RegExp(signature),
    slot: /1,234,567/,
    timestamp: / ago/,
    computeUnitsConsumed: /43,210/,
    priorityFee: /98,765 µLam/,
    nativeTransfers: /1\.11 SOL · \$166\.50[\s\S]*by the prices of now/,
    tokenTransfers: /222 /,
    confidentialTransfers: /Hidden amounts/,
    authorityChanges: /the right of a test/,
    actions: /444 /,
    unaccounted: /555 /,
    accountData: /6\.66 SOL/,
    instructions: /Inner program/,
    transactionError: /^/, // of a transaction that failed: the next test
    events: /Swap event/,
  };
  t.same(Object.keys(expected).sort(), Object.keys(whole).sort());
  for (const [member, pattern] of Object.entries(expected)) t.match(shown, pattern, member);
  t.equal(await page.locator('.flow .ribbon').count(), 2, 'with a picture of who gave what to whom');
  t.same(await accessibilityViolations(page), []);

  const call = {
    ...enhanced.instructions[0],
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
  t.match(
    reason,
    /^instruction 1 of 1, [^:]+: “[^“”]+ · paid by [^“”]+” · error 7 · the fee of /,
    'a stranger’s words are quoted',
  );
  t.notMatch(reason, /[\0\u202e]/);
});

t.test('a failed transaction says so first, with its reason and where it failed', async (t) => {
  const signature = await findSignature(true);
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
    ['slot_skipped', newest, /Its leader skipped this slot/],
    ['block_not_available', newest + 1000, /still to come: in about \d+ m/],
    ['block_not_available', newest, /so new that no node has its block yet/],
    ['block_pruned', 5, /older than what the nodes of this gateway keep/],
  ] as const) {
    code = error;
    t.match(await words(slot), expected);
  }
  await page.unroute('**/api/v1/block/**');
  t.notMatch(await words(newest), /does not have it/);
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
  await page.setViewportSize({ width: 900, height: 600 });
  await page.goto(`${gateway.url}/explorer?q=${WALLET}`);
  await part(page, 'History').locator('button:text("Changes")').click();
  await untilShown(part(page, 'History').locator('th:text("Change")'));
  t.equal(new URL(page.url()).searchParams.get('view'), 'changes');
  await part(page, 'History').locator('.more').focus();
  await page.keyboard.press('Enter');
  await waitFor(async () => (await part(page, 'History').locator('table').count()) === 2, 'the second page');
  t.equal(await page.evaluate('document.activeElement.className'), 'more');
  await part(page, 'History').locator('tr:last-child td:first-child a').last().click();
  await untilShown(part(page, 'Overview'));
  await page.goBack();
  await waitFor(async () => (await part(page, 'History').locator('table').count()) === 2, 'both pages');
  await waitFor(async () => Number(await page.evaluate('scrollY')) > 300, 'the place where it was left');
  t.equal(await page.title(), `${shorten(WALLET)} · slotgate`, 'its title');
  t.match(
    await page.evaluate('document.activeElement.title'),
    /^\w{86,88}$/,
    'and the link that was followed has the focus',
  );
  await page.reload();
  await untilShown(part(page, 'History').locator('th:text("Change")'));
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
  t.same(
    problems.filter((problem) => !/status of 404/.test(problem)),
    [],
  );
});

t.test('what has the focus keeps it when newer values are shown', async (t) => {
  const { page } = await openTab(t);
  const focused = (): Promise<unknown> =>
    page.evaluate('document.activeElement.title || document.activeElement.ariaLabel');
  await page.goto(`${gateway.url}/explorer`);
  const first = part(page, 'Newest blocks').locator('tbody a').first();
  await untilShown(first);
  const slot = await first.getAttribute('title');
  await first.focus();
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
  isDown = false;
  await again('Newest blocks').click();
  await untilShown(part(page, 'Newest blocks').locator('tbody tr'));
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
