import type { Snapshot } from '../../client/index.ts';
import { FAULT_EXPLANATIONS } from '../../client/verify/index.ts';
import { CLUSTER_NAMES } from '../../shared/domain/cluster-names.ts';
import { enableCopyButtons } from '../browser/copy-buttons.ts';
import { create, elementById, setText } from '../browser/elements.ts';
import { gatewayUrl } from '../browser/gateway-url.ts';
import { enableHeader } from '../browser/header.ts';
import { LiveLine } from '../browser/live-line.ts';
import { paced } from '../browser/paced.ts';
import { Plot, type PlotOptions } from '../browser/plot.ts';
import type { TrustedClient } from '../browser/trusted-client.ts';
import { Figures, formatSpan, shorten, UNKNOWN } from '../format/figures.ts';
import { Announcer } from '../live/announcer.ts';
import { type HealthReport, healthSentence } from '../live/health.ts';
import { describeView, isCurrent, isOld, type LineView } from '../live/state.ts';
import { FeeLevels } from '../plot/fee-levels.ts';
import { type Columns, summarize, tableRows } from '../plot/series.ts';
import { SlotPace } from '../plot/slot-pace.ts';
import { TransactionRates } from '../plot/transaction-rates.ts';

const MINUTE_MS = 60_000;

const POLLED =
  'The gateway opened no live line for this page: this address may have used up its own, or a proxy between lets none through. The values are read over HTTP, without a receipt.';

/** Rows of the table below a plot. */
const TABLE_ROWS = 30;

const figures = new Figures(navigator.language);
const clock = new Intl.DateTimeFormat(navigator.language, { timeStyle: 'medium' });
const minutes = new Intl.DateTimeFormat(navigator.language, { timeStyle: 'short' });
const seconds = new Intl.NumberFormat(navigator.language, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const announcer = new Announcer();

const text = (id: string, value: string): void => setText(elementById(id, HTMLElement), value);

/** Splits a figure from its unit, which is shown smaller. */
function showFigure(id: string, figure: string, unit: string): void {
  const element = elementById(id, HTMLElement);
  if (element.textContent === `${figure} ${unit}`) return;
  element.replaceChildren(`${figure} `, create('span', { class: 'unit' }, unit));
}

/** A plot of the page: the picture, its summary and its table. */
class Figure {
  readonly #host: HTMLElement;
  readonly #table: HTMLElement;
  readonly #plot: Plot;
  readonly #title: string;
  readonly #summaryLine: number;
  readonly #options: PlotOptions;
  #summaryMs = Number.NEGATIVE_INFINITY;
  #columns: Columns = [];

  constructor(id: string, title: string, options: PlotOptions, summaryLine = 1) {
    const figure = elementById(id, HTMLElement);
    this.#host = figure.querySelector<HTMLElement>('.plot') ?? figure;
    this.#table = figure.querySelector<HTMLElement>('details .scroll') ?? figure;
    this.#title = title;
    this.#summaryLine = summaryLine;
    this.#options = options;
    this.#plot = new Plot(this.#host, options);
    figure.querySelector('details')?.addEventListener('toggle', () => this.#showTable());
  }

  show(columns: Columns): void {
    this.#columns = columns;
    this.#plot.show(columns);
    const nowMs = performance.now();
    if (nowMs - this.#summaryMs < MINUTE_MS || (columns[0]?.length ?? 0) < 2) return;
    this.#summaryMs = nowMs;
    this.#host.setAttribute('aria-label', summarize(this.#title, columns, this.#summaryLine, this.#options.format));
    this.#showTable();
  }

  #showTable(): void {
    const { lines, format, formatTime } = this.#options;
    const head = create(
      'tr',
      {},
      ...['Time', ...lines.map(({ label }) => label)].map((name) => create('th', {}, name)),
    );
    const rows = tableRows(this.#columns, TABLE_ROWS).map(([time, ...values]) =>
      create(
        'tr',
        {},
        create('td', {}, typeof time === 'number' ? formatTime(time) : ''),
        ...values.map((value) => create('td', {}, value === null ? UNKNOWN : format(value))),
      ),
    );
    this.#table.replaceChildren(create('table', {}, create('thead', {}, head), create('tbody', {}, ...rows)));
  }
}

const secondsOf = (seconds: number): string => clock.format(seconds * 1000);
const whole = (value: number): string => figures.integer(Math.round(value));

const pace = new SlotPace();
const rates = new TransactionRates();
const fees = new FeeLevels();
const paceFigure = new Figure('pace', 'Slot time', {
  lines: [{ label: 'ms per slot', color: '--accent', isFilled: true }],
  format: whole,
  formatTime: secondsOf,
  spanSec: 300,
});
const ratesFigure = new Figure(
  'rates',
  'Transactions per second',
  {
    lines: [
      { label: 'without votes', color: '--accent', isFilled: true },
      { label: 'all', color: '--second' },
    ],
    format: whole,
    formatTime: (seconds) => minutes.format(seconds * 1000),
    spanSec: 3600,
  },
  2,
);
const feesFigure = new Figure(
  'fees',
  'Priority fee, medium level',
  {
    lines: [
      { label: 'low', color: '--muted', dash: [3, 3] },
      { label: 'medium', color: '--accent' },
      { label: 'high', color: '--third', dash: [6, 3] },
    ],
    format: whole,
    formatTime: secondsOf,
    spanSec: 300,
  },
  2,
);

let frame: Snapshot | undefined;
let trusted: TrustedClient | undefined;
let report: HealthReport | undefined;
/** When the epoch ends, in Unix milliseconds; undefined until `/epoch` is read. */
let epochEndMs: number | undefined;
let readMs = Number.NEGATIVE_INFINITY;

const showSoon = paced(render);
const line = new LiveLine({
  onFrame(newest) {
    frame = newest;
    pace.add(newest);
    fees.add(newest);
    rates.addFrame(newest);
    if (performance.now() - readMs > MINUTE_MS) void readMinute();
  },
  onClient(client) {
    trusted = client;
    readMs = Number.NEGATIVE_INFINITY;
    showCluster(client.cluster);
    void readHistory(client).catch(() => {});
  },
  onHealth: showHealth,
  onChange: showSoon,
});

/** Reads what the gateway saw in the five minutes before. Without it the plots begin now. */
async function readHistory({ client }: TrustedClient): Promise<void> {
  const { rows } = (await client.get('/network/history', { step: 'slot', span: '5m' })).result;
  pace.prepend(rows);
  fees.prepend(rows);
  showSoon();
}

/** Reads what changes once a minute. What fails is shown as before, and tried with the next minute. */
async function readMinute(): Promise<void> {
  readMs = performance.now();
  const client = trusted?.client;
  if (client === undefined) return;
  const [performanceRows, epoch] = await Promise.allSettled([client.get('/performance'), client.get('/epoch')]);
  if (performanceRows.status === 'fulfilled') rates.setRows(performanceRows.value.result, Date.now() / 1000);
  if (epoch.status === 'fulfilled') epochEndMs = epoch.value.result.estimatedEndTime * 1000;
}

function render(): void {
  const { view } = line;
  document.body.dataset['state'] = view.state;
  text('state', describeView(view));
  elementById('state', HTMLElement).title = view.isPolled ? POLLED : '';
  text('health-text', healthSentence(report, view));
  showNodes(view);
  const said = announcer.next(view.state, performance.now());
  if (said !== undefined) text('said', said);
  showProof();
  if (frame !== undefined) showFrame(frame, view);
  paceFigure.show(pace.columns);
  ratesFigure.show(rates.columns);
  feesFigure.show(fees.columns);
}

function showFrame(shown: Snapshot, view: LineView): void {
  const levels = shown.priorityFeeLevels;
  const old = isOld(view);
  text('slot', figures.integer(shown.slot));
  text(
    'slot-age',
    `${isCurrent(view) ? `${seconds.format(view.slotAgeMs / 1000)} s` : formatSpan(view.slotAgeMs)} ago`,
  );
  text('tps', old ? UNKNOWN : figures.integer(rounded(shown.nonVoteTps)));
  text('votes', shown.consensus === 'alpenglow' ? '' : 'without votes');
  text('consensus', shown.consensus === null ? UNKNOWN : CONSENSUS_NAMES[shown.consensus]);
  text('tps-all', old || shown.tps === null ? UNKNOWN : `${figures.integer(rounded(shown.tps))} all`);
  showFigure('slot-time', figures.integer(rounded(shown.slotTimeMs)), 'ms');
  showFigure('fee', old ? UNKNOWN : figures.integer(shown.priorityFee), 'µLam/CU');
  const range =
    levels === null || old ? UNKNOWN : `low ${figures.integer(levels.low)}, high ${figures.integer(levels.high)}`;
  text('fee-range', range);
  text('epoch', figures.integer(shown.epoch));
  text('epoch-share', figures.percent(shown.epochProgress));
  text('epoch-end', epochEndMs === undefined ? UNKNOWN : `ends in ${formatSpan(epochEndMs - Date.now())}`);
  elementById('bar-done', HTMLElement).style.width = `${shown.epochProgress * 100}%`;
  elementById('bar', HTMLElement).setAttribute('aria-valuenow', (shown.epochProgress * 100).toFixed(1));
}

const CONSENSUS_NAMES = { tower: 'Tower BFT', alpenglow: 'Alpenglow' } as const;

const rounded = (value: number | null): number | null => value && Math.round(value);

function showCluster(genesisHash: string): void {
  const name = CLUSTER_NAMES[genesisHash];
  text('cluster', name === undefined ? `cluster ${shorten(genesisHash)}` : `${name} ${shorten(genesisHash)}`);
  text('genesis', shorten(genesisHash));
  elementById('genesis', HTMLElement).title = genesisHash;
}

function showProof(): void {
  const { verified, refused, fault, publicKey, unknownKey } = line.proof;
  const mark = elementById('mark', HTMLElement);
  const isGood = fault === undefined && verified > 0 && !line.view.isPolled;
  setText(mark, fault !== undefined ? '✗' : isGood ? '✓' : '·');
  mark.className = `mark ${fault !== undefined ? 'bad' : isGood ? 'good' : 'muted'}`;
  const count = `${figures.integer(verified)} ${verified === 1 ? 'frame' : 'frames'} verified`;
  const refusals = refused === 0 ? '' : `, ${figures.integer(refused)} refused`;
  const none = line.view.isPolled ? 'read without a receipt' : 'nothing verified yet';
  text('proof', verified + refused === 0 || line.view.isPolled ? none : count + refusals);
  elementById('proof-line', HTMLElement).title = fault === undefined ? '' : FAULT_EXPLANATIONS[fault];
  const notice = elementById('key-notice', HTMLElement);
  notice.hidden = fault === undefined;
  if (fault !== undefined) {
    const keys = `This browser has seen the key ${publicKey}, and the gateway signs with ${unknownKey} now, for which the former has not signed. Ask who runs the gateway before you trust it.`;
    text('key-text', unknownKey === undefined ? `A frame was refused. ${FAULT_EXPLANATIONS[fault]}` : keys);
  }
  elementById('accept', HTMLElement).hidden = unknownKey === undefined;
  if (publicKey === undefined) return;
  text('key', shorten(publicKey));
  elementById('key', HTMLElement).title = publicKey;
  const copy = elementById('copy-key', HTMLButtonElement);
  copy.dataset['copy'] = publicKey;
  copy.disabled = false;
}

/** Shows the nodes as their gateway saw them last; none is shown as being in order while there are no new slots. */
function showNodes(view: LineView): void {
  const nodes = report?.health?.upstreams.map(({ id, operator, status, behindSlots, ws }) => {
    const lag = behindSlots === null || behindSlots === 0 ? '' : ` ${figures.integer(behindSlots)} slots`;
    const socket = ws === 'down' ? ', WebSocket down' : '';
    const isGood = status === 'ok' && ws !== 'down' && isCurrent(view);
    const words = status === 'ok' && !isCurrent(view) ? 'answered' : status;
    const text = create('span', { class: isGood ? 'good' : 'warn' }, `${isGood ? '●' : '▲'} ${words}${lag}${socket}`);
    return create('li', {}, `${id} `, text, operator === id ? '' : ` of ${operator}`);
  });
  const list = elementById('node-list', HTMLElement);
  const shown = nodes?.map(({ textContent }) => textContent).join('') ?? '';
  if (list.textContent !== shown) list.replaceChildren(...(nodes ?? []));
}

function showHealth(newest: HealthReport | undefined): void {
  report = newest;
  const { health } = newest ?? {};
  if (health !== undefined) {
    text('version', health.version);
    text('uptime', formatSpan(health.uptimeSec * 1000));
  }
  showSoon();
}

elementById('accept', HTMLElement).addEventListener('click', () => line.acceptKey());
elementById('read', HTMLElement).addEventListener('click', () => {
  const of = (id: string): string => elementById(id, HTMLElement).textContent ?? '';
  text('spoken', '');
  const values = `${of('state')}. Slot ${of('slot')}, ${of('tps')} transactions per second without votes, slot time ${of('slot-time')}, priority fee ${of('fee')}, epoch ${of('epoch')}, ${of('epoch-share')}.`;
  setTimeout(() => text('spoken', values), 100);
});
for (const base of document.querySelectorAll('.base')) setText(base, gatewayUrl().href);
enableHeader();
enableCopyButtons();
