import bs58 from 'bs58';
import type { Result } from '../../client/index.ts';
import { WRAPPED_SOL } from '../../shared/domain/known-mints.ts';
import { priorityFeeOf } from '../../shared/domain/priority-fee.ts';
import { visibleText } from '../../shared/domain/visible-text.ts';
import { COMPUTE_BUDGET_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import { type Child, create } from '../browser/elements.ts';
import { decimalOf, wordsOf } from '../format/amounts.ts';
import { factsOf } from './account-facts.ts';
import { countOf, figures } from './figures.ts';
import { summedTransfers, type Transfer } from './flow.ts';
import { showFlow } from './flow-view.ts';
import { statusChip } from './history-part.ts';
import { logsOf } from './instruction-logs.ts';
import { identifier, linkedText, linkTo } from './links.ts';
import { strangersText, TokenLabels } from './names.ts';
import { Part } from './part.ts';
import { amountOf, facts, filledColumns, mutedText, rawDetails, shareBar, table } from './tables.ts';
import { chip, timeAgo } from './title.ts';
import type { ViewContext } from './view-context.ts';

type Transaction = Result<'/tx/:sig'>;
type Enhanced = NonNullable<Transaction['enhanced']>;
type Instruction = Enhanced['instructions'][number];

/** What the page uses of a transaction as a node writes it. */
interface NodeRecord {
  readonly version: number | string | null;
  readonly meta: {
    readonly preBalances?: readonly (number | bigint)[];
    readonly logMessages?: readonly string[] | null;
  } | null;
}

export function showTransaction(context: ViewContext, signature: string): void {
  const { client, title, add } = context;
  const loading = new Part('Transaction', title.proofs);
  add(loading);
  void loading.load(async (read) => {
    const tokens = new TokenLabels(client);
    const [answer] = await read(
      Promise.all([
        client.get('/tx/:sig', { sig: signature, enhanced: '1' }),
        tokens.read([WRAPPED_SOL], true), // it has a price where any has one
      ]),
    );
    const { result } = answer;
    const record = result as unknown as NodeRecord; // a node wrote it, whose form the declaration leaves open
    const { enhanced } = result;
    if (enhanced) await read(tokens.read(mintsOf(enhanced), tokens.hasPrices));
    loading.prove(answer);
    loading.element.remove();
    showHead(context, result);
    if (enhanced) showMeaning(context, enhanced, record, tokens);
    const raw = partOf(
      'Record',
      !enhanced && create('p', {}, 'Its record could not be read as a transaction.'),
      rawDetails('Transaction', { transaction: result.transaction, meta: result.meta }),
      record.meta?.logMessages && rawDetails('Log', record.meta.logMessages),
    );
    add(raw);
  });
}

const mintsOf = ({ tokenTransfers, actions, accountData }: Enhanced): readonly string[] => [
  ...tokenTransfers.map(({ mint }) => mint),
  ...actions.flatMap(({ given, got }) => [...given, ...got]).map(({ mint }) => mint),
  ...accountData.flatMap(({ tokenBalanceChanges }) => tokenBalanceChanges).map(({ mint }) => mint),
];

function showHead(
  { now, title, whileShown }: ViewContext,
  { signature, confirmationStatus, blockTime, enhanced, meta }: Transaction,
): void {
  const err = (meta as { readonly err?: unknown } | null)?.err;
  const status = enhanced ? enhanced.status : err === undefined ? null : err === null ? 'success' : 'failed';
  title.show({
    chips: [
      statusChip(status),
      chip(wordsOf(confirmationStatus)),
      enhanced && chip(`${wordsOf(enhanced.type)} · ${wordsOf(enhanced.source)}`),
      timeAgo(blockTime, now, whileShown),
    ],
    heading: enhanced
      ? [status === 'failed' && create('span', { class: 'bad' }, 'Failed: '), ...linkedText(enhanced.description)]
      : ['Transaction'],
    below: [enhanced && failureOf(enhanced), identifier(signature, 'signature')],
  });
}

/** Says where a transaction failed, and what it cost all the same. */
function failureOf({ transactionError, instructions, fee }: Enhanced): Child {
  if (transactionError === null) return null;
  const { instructionIndex, name, code } = transactionError;
  const failed = instructions.find(({ index }) => index === instructionIndex);
  const place = failed && [
    `instruction ${failed.index + 1} of ${instructions.length}, `,
    linkTo(failed.programId, failed.programName ?? undefined),
    ': ',
    callOf(failed),
    ' · ',
  ];
  const reason =
    name === null ? code !== null && `error ${code}` : code === null || code === name ? name : `${name} (${code})`;
  const words = [reason, `the fee of ${sol(fee)} was paid`].filter(Boolean).join(' · ');
  return create('p', { class: 'failure' }, ...(place ?? []), words);
}

const sol = (lamports: number | bigint | string): string => `${figures.decimal(decimalOf(lamports, 9))} SOL`;

/** What a call is by our tables, or else in its program's own words. */
const callOf = ({ type, name }: Pick<Instruction, 'type' | 'name'>): Child =>
  type ?? strangersText(name) ?? 'unknown call';

function showMeaning({ add }: ViewContext, enhanced: Enhanced, record: NodeRecord, tokens: TokenLabels): void {
  const { meta } = record;
  const now = tokens.hasPrices && create('p', { class: 'muted' }, 'USD by the prices of now, not of then.');
  const moved = summedTransfers(transfersOf(enhanced));
  if (moved.length > 0) add(partOf('What moved', showFlow(moved, tokens), now));
  add(
    partOf('Overview', overview(enhanced, tokens, record)),
    partOf('Balance changes', balanceChanges(enhanced, meta, tokens)),
  );
  const { actions, unaccounted, authorityChanges, confidentialTransfers } = enhanced;
  if (actions.length > 0) add(partOf('Actions', actionTable(actions, tokens), unaccountedNote(unaccounted, tokens)));
  if (authorityChanges.length > 0) add(partOf('Rights that changed', ...authorityChanges.map(factsOf)));
  if (confidentialTransfers.length > 0) add(partOf('Hidden amounts', ...confidentialTransfers.map(factsOf)));
  for (const [event, value] of Object.entries(enhanced.events)) add(partOf(wordsOf(`${event} event`), factsOf(value)));
  add(instructionPart(enhanced, meta?.logMessages ?? []));
}

function partOf(title: string, ...children: readonly Child[]): Part {
  const part = new Part(title);
  void part.load(async () => part.show(...children));
  return part;
}

function transfersOf({ nativeTransfers, tokenTransfers }: Enhanced): readonly Transfer[] {
  const native = nativeTransfers.map(({ fromUserAccount, toUserAccount, amount }) => ({
    from: fromUserAccount,
    to: toUserAccount,
    mint: WRAPPED_SOL,
    amount: BigInt(amount),
    decimals: 9,
  }));
  const ofTokens = tokenTransfers.flatMap((transfer) => {
    const from = transfer.fromUserAccount ?? transfer.fromTokenAccount ?? transfer.mint;
    const to = transfer.toUserAccount ?? transfer.toTokenAccount ?? transfer.mint;
    const { mint, amount, decimals } = transfer;
    return { from, to, mint, amount: BigInt(amount), decimals };
  });
  return [...native, ...ofTokens];
}

function overview(enhanced: Enhanced, tokens: TokenLabels, { version }: NodeRecord): Child {
  const { slot, fee, feePayer, signers, priorityFee, computeUnitsConsumed, instructions } = enhanced;
  const limit = instructions
    .filter(({ programId, type }) => programId === COMPUTE_BUDGET_PROGRAM && type === 'setComputeUnitLimit')
    .map(({ info }) => Number(info?.['units']))[0];
  const used = figures.integer(computeUnitsConsumed);
  const share = computeUnitsConsumed === null || !limit ? null : computeUnitsConsumed / limit;
  const priority = priorityFeeOf(enhanced, bs58.decodeUnsafe);
  const base = BigInt(fee) - priority;
  const digits = (lamports: bigint): string => figures.decimal(decimalOf(lamports, 9));
  const parts = priority > 0n ? `base ${digits(base)} + priority ${digits(priority)} · ` : '';
  const price = ` · ${parts}${figures.integer(priorityFee)} µLam/CU`;
  return facts([
    ['Block', slot === null ? null : linkTo(String(slot), figures.integer(slot))],
    ['Fee', create('span', {}, sol(fee), mutedText(tokens.worthOf(WRAPPED_SOL, fee, 9) + price))],
    [
      'Compute',
      share === null
        ? `${used} CU`
        : shareBar(share, `${used} of ${figures.integer(limit ?? null)} CU · ${figures.percent(share)}`),
    ],
    ['Fee payer', linkTo(feePayer)],
    ['Signers', create('span', { class: 'list' }, ...signers.map((signer) => linkTo(signer)))],
    ['Version', version === null ? null : String(version)],
  ]);
}

function balanceChanges({ accountData }: Enhanced, meta: NodeRecord['meta'], tokens: TokenLabels): Child {
  const rows = accountData.flatMap(({ account, nativeBalanceChange, tokenBalanceChanges }, at) => {
    const before = meta?.preBalances?.[at];
    const lamports = nativeBalanceChange ?? '0';
    const native = [linkTo(account), amountOf(lamports, 9, 'SOL'), before === undefined ? '' : sol(before)];
    return [
      ...(lamports === '0' ? [] : [native]),
      ...tokenBalanceChanges.map(({ userAccount, mint, rawTokenAmount: { tokenAmount, decimals } }) => [
        linkTo(userAccount),
        amountOf(tokenAmount, decimals, tokens.of(mint)),
        '',
      ]),
    ];
  });
  if (rows.length === 0) return create('p', { class: 'muted' }, 'No balance changed.');
  const columns = ['Account', { title: 'Change', isNumber: true }, { title: 'Before', isNumber: true }] as const;
  return table('Balance changes', columns, rows);
}

const actionTable = (actions: Enhanced['actions'], tokens: TokenLabels): Child =>
  table(
    'Actions',
    ...filledColumns(
      ['What', 'Who', 'With', 'Gave', 'Got', 'By'],
      actions.map(({ kind, actor, counterparty, given, got, program, role }) => [
        chip(wordsOf(kind)),
        create('span', {}, linkTo(actor), role === 'owner' ? '' : create('span', { class: 'muted' }, ` by ${role}`)),
        counterparty && linkTo(counterparty),
        amounts(given, '-', tokens),
        amounts(got, '', tokens),
        program && linkTo(program),
      ]),
    ),
  );

const amounts = (list: Enhanced['actions'][number]['given'], sign: '-' | '', tokens: TokenLabels): Child =>
  list.length > 0 &&
  create(
    'span',
    { class: 'list' },
    ...list.map(({ mint, amount, decimals }) => amountOf(`${sign}${amount}`, decimals, tokens.of(mint))),
  );

function unaccountedNote(unaccounted: Enhanced['unaccounted'], tokens: TokenLabels): Child {
  if (unaccounted.length === 0) return null;
  const rows = unaccounted.map(({ userAccount, mint, amount, decimals }) =>
    create('li', {}, linkTo(userAccount), ' ', amountOf(amount, decimals, tokens.of(mint))),
  );
  return create('div', {}, create('p', {}, 'Changes that no action explains:'), create('ul', {}, ...rows));
}

function instructionPart({ instructions, transactionError }: Enhanced, log: readonly string[]): Part {
  const part = new Part('Instructions');
  const logs = logsOf(
    log,
    instructions.map(({ programId }) => programId),
  );
  const items = instructions.map((instruction, at) => {
    const isFailed = instruction.index === transactionError?.instructionIndex;
    const { lines = [], computeUnits = null } = logs[at] ?? {};
    const inner = instruction.innerInstructions;
    return create(
      'li',
      isFailed ? { class: 'wrong' } : {},
      callLine(instruction, computeUnits, isFailed),
      create(
        'div',
        { class: 'call' },
        create(
          'div',
          {},
          argumentsOf(instruction),
          inner.length > 0 &&
            create(
              'ol',
              { class: 'calls' },
              ...inner.map((each) => create('li', {}, callLine(each), argumentsOf(each))),
            ),
        ),
        lines.length > 0 && logDetails(lines, isFailed),
      ),
    );
  });
  void part.load(async () => part.show(create('ol', { class: 'calls' }, ...items)));
  return part;
}

function callLine(
  instruction: Pick<Instruction, 'programId' | 'programName' | 'type' | 'name'>,
  units: number | null = null,
  isFailed = false,
): HTMLElement {
  const { programId, programName } = instruction;
  return create(
    'div',
    { class: 'call-line' },
    linkTo(programId, programName ?? undefined),
    create('strong', {}, callOf(instruction)),
    isFailed && create('span', { class: 'bad' }, '✗ failed here'),
    units !== null && create('span', { class: 'muted units' }, `${figures.integer(units)} CU`),
  );
}

function argumentsOf({ info, accounts, data }: Pick<Instruction, 'info' | 'accounts' | 'data'>): Child {
  if (info !== null) return factsOf(info);
  const shown = create('details', {}, create('summary', {}, countOf(accounts.length, 'account')));
  shown.append(
    create('div', { class: 'list' }, ...accounts.map((account) => linkTo(account))),
    data === null ? '' : create('code', {}, data),
  );
  return shown;
}

function logDetails(lines: readonly string[], isOpen: boolean): HTMLElement {
  const details = create('details', { class: 'log' }, create('summary', {}, `Log · ${countOf(lines.length, 'line')}`));
  const shown = lines.map((line) => visibleText(line).replaceAll('\n', '\\n')); // a program may write what looks like two lines
  details.append(create('pre', { tabindex: '0' }, shown.join('\n')));
  details.open = isOpen;
  return details;
}
