import type { Snapshot } from '../../client/index.ts';
import { FAULT_EXPLANATIONS } from '../../client/verify/index.ts';
import { CLUSTER_NAMES } from '../../shared/domain/cluster-names.ts';
import { WRAPPED_SOL } from '../../shared/domain/known-mints.ts';
import { TARGET_SLOT_MS } from '../../shared/domain/slot-time.ts';
import { enableCopyButtons } from '../browser/copy-buttons.ts';
import { create, elementById, setText } from '../browser/elements.ts';
import { feedRow } from '../browser/feed-row.ts';
import { gatewayUrl } from '../browser/gateway-url.ts';
import { enableHeader } from '../browser/header.ts';
import { KeyNotice } from '../browser/key-notice.ts';
import { LiveLine } from '../browser/live-line.ts';
import { paced } from '../browser/paced.ts';
import type { TrustedClient } from '../browser/trusted-client.ts';
import { decimalOf } from '../format/amounts.ts';
import { Figures, formatSpan, shorten, UNKNOWN } from '../format/figures.ts';
import { Announcer } from '../live/announcer.ts';
import { agreementWords, type HealthReport, healthSentence } from '../live/health.ts';
import { describeView, isCurrent, isOld, type LineView, type LiveState, STATE_WORDS } from '../live/state.ts';
import { FeeLevels } from '../plot/fee-levels.ts';
import { type HistoryRow, healthBars, historyColumns, skippedShare } from '../plot/history-columns.ts';
import type { Columns } from '../plot/series.ts';
import { SlotPace } from '../plot/slot-pace.ts';
import { SlotStrip } from '../plot/slot-strip.ts';
import { TransactionRates } from '../plot/transaction-rates.ts';
import { SPARKLINE_VIEW, Sparkline } from '../widget/sparkline.ts';
import { Figure, type FigureOptions, type Range } from './figure.ts';
import { StripView } from './strip-view.ts';

const MINUTE_MS = 60_000;

const POLLED =
  'The gateway opened no live line: this address may have used up its own, or a proxy lets none through. Values come over HTTP, without a receipt.';

const figures = new Figures(navigator.language);
/** Writes times without AM and PM, for which an axis on a phone has no room. */
const timeFormat = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat(figures.language, { ...options, hourCycle: 'h23' });
const clock = timeFormat({ timeStyle: 'medium' });
const minutes = timeFormat({ timeStyle: 'short' });
const days = timeFormat({ weekday: 'short', hour: '2-digit', minute: '2-digit' });
const seconds = new Intl.NumberFormat(figures.language, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const announcer = new Announcer();

const text = (id: string, value: string): void => setText(elementById(id, HTMLElement), value);

/** Splits a figure from its unit, which is shown smaller. */
function showFigure(id: string, figure: string, unit: string): void {
  const element = elementById(id, HTMLElement);
  if (element.textContent === `${figure} ${unit}`) return;
  element.replaceChildren(`${figure} `, create('span', { class: 'unit' }, unit));
}

let trusted: TrustedClient | undefined;

/** What the gateway's clock is ahead of the reader's, in milliseconds: frames have the gateway's time. */
let clockAheadMs = 0;
const nowSec = (): number => (trusted?.now() ?? Date.now() + clockAheadMs) / 1000;

const secondsOf = (seconds: number): string => clock.format(seconds * 1000);
const whole = (value: number): string => figures.integer(Math.round(value));

const pace = new SlotPace();
const rates = new TransactionRates();
const fees = new FeeLevels();
const strip = new SlotStrip();
const stripView = new StripView(figures);

/** What plots of longer ranges show, by range, and when it was requested. */
const longer = new Map<Range, { readonly rows: readonly HistoryRow[]; readonly readMs: number }>();

const figureOf = (id: string, options: Pick<FigureOptions, 'title' | 'lines' | 'summaryLine' | 'range'>): Figure =>
  new Figure(elementById(id, HTMLElement), {
    ...options,
    nowSec,
    sinceSec: () => nowSec() - (report?.health?.uptimeSec ?? 0),
    format: whole,
    formatTime: timeText,
    onRange: () => void readLonger().then(drawPlots),
  });

function timeText(seconds: number, range: Range): string {
  if (range === '5m') return secondsOf(seconds);
  return (range === '7d' ? days : minutes).format(seconds * 1000);
}

const ratesFigure = figureOf('rates', {
  title: 'Transactions per second',
  lines: [
    { label: 'without votes', color: '--accent', isFilled: true },
    { label: 'all', color: '--second' },
  ],
  summaryLine: 2,
  range: '1h',
});
const paceFigure = figureOf('pace', {
  title: 'Slot time',
  lines: [
    { label: 'ms per slot', color: '--accent', isFilled: true },
    { label: 'target', color: '--muted', dash: [3, 3] },
  ],
  summaryLine: 1,
  range: '5m',
});
const feesFigure = figureOf('fees', {
  title: 'Priority fee, medium level',
  lines: [
    { label: 'low', color: '--muted', dash: [3, 3] },
    { label: 'medium', color: '--accent' },
    { label: 'high', color: '--third', dash: [6, 3] },
  ],
  summaryLine: 2,
  range: '5m',
});

let frame: Snapshot | undefined;
let report: HealthReport | undefined;
/** When the epoch ends, in Unix seconds; undefined until `/epoch` is read. */
let epochEndSec: number | undefined;
let solUsd: number | null = null;
/** The average of the last hour; 0 before it is known. */
let hourTps = 0;
let readMs = Number.NEGATIVE_INFINITY;

const notice = new KeyNotice(() => line.acceptKey());
const showSoon = paced(render);
const line = new LiveLine({
  onFrame(newest) {
    frame = newest;
    clockAheadMs = newest.updatedAt - Date.now();
    strip.add(newest);
    pace.add(newest);
    fees.add(newest);
    rates.addFrame(newest);
    if (performance.now() - readMs > MINUTE_MS) void readMinute();
  },
  onClient(client) {
    trusted = client;
    readMs = Number.NEGATIVE_INFINITY;
    showCluster(client.cluster);
    void kept(readHistory(client));
  },
  onHealth: showHealth,
  onChange: showSoon,
});

/** Waits for what is read. What fails is shown as before, and tried again with the next minute or client. */
const kept = <A>(read: Promise<A>): Promise<A | undefined> => read.catch((thrown) => void line.doubt(thrown));

/** Reads what the gateway saw in the five minutes before. Without it the plots begin now. */
async function readHistory({ client }: TrustedClient): Promise<void> {
  const { rows } = (await client.get('/network/history', { step: 'slot', span: '5m' })).result;
  pace.prepend(rows);
  fees.prepend(rows);
  strip.prepend(rows);
  showSoon();
}

/** Reads the rows of the ranges that are shown, and those of the bars of a day, unless they are new. */
async function readLonger(): Promise<void> {
  const client = trusted?.client;
  if (client === undefined) return;
  const shown = [ratesFigure, paceFigure, feesFigure].map(({ range }) => range);
  const wanted = new Set<Range>(['1h', '24h', ...shown.filter((range) => range !== '5m')]);
  const read = [...wanted].map(async (span) => {
    const readMs = performance.now();
    if (readMs - (longer.get(span)?.readMs ?? Number.NEGATIVE_INFINITY) < MINUTE_MS) return;
    const answer = await kept(client.get('/network/history', { step: span === '1h' ? '10' : '60', span }));
    if (answer) longer.set(span, { rows: answer.result.rows, readMs });
  });
  await Promise.all(read);
}

/** Reads what changes once a minute. */
async function readMinute(): Promise<void> {
  readMs = performance.now();
  const client = trusted?.client;
  if (client === undefined) return;
  const [performanceRows, epoch, price] = await Promise.all([
    kept(client.get('/performance')),
    kept(client.get('/epoch')),
    kept(client.get('/token/:mint', { mint: WRAPPED_SOL })),
    readLonger(),
  ]);
  if (performanceRows) rates.setRows(performanceRows.result, nowSec());
  if (epoch) epochEndSec = epoch.result.estimatedEndTime;
  if (price) solUsd = price.result.priceUsd;
  showMinute();
}

const rowsOf = (range: Range): readonly HistoryRow[] => longer.get(range)?.rows ?? [];

/** The seconds of a row of a range. */
const STEP_SEC: Readonly<Record<Range, number>> = { '5m': 1, '1h': 10, '24h': 60, '7d': 600 };

/** Shows what is read once a minute. */
function showMinute(): void {
  const hour = rowsOf('1h');
  const share = skippedShare(hour);
  text('skipped', figures.percent(share));
  const [first] = hour;
  text('skipped-note', first === undefined ? UNKNOWN : `last ${formatSpan(minuteSpan(first.endedAt))}`);
  const shares = hour.map(({ slots, skippedSlots }) => (slots === 0 ? null : (skippedSlots ?? 0) / slots));
  drawSpark('skipped-spark', shares);
  const hourRates = hour.length > 1 ? hour.map(({ nonVoteTps, tps }) => nonVoteTps ?? tps) : (rates.columns[1] ?? []);
  drawSpark('tps-spark', hourRates);
  const known = hourRates.filter((rate) => rate !== null);
  hourTps = known.length > 1 ? known.reduce((sum, rate) => sum + rate) / known.length : 0;
  const bars = healthBars(rowsOf('24h'), DAY_BARS, DAY_MS, nowSec() * 1000);
  const host = elementById('bars', HTMLElement);
  host.replaceChildren(...bars.map((state) => create('span', { class: state })));
  const count = (wanted: string): number => bars.filter((state) => state === wanted).length;
  const words = `${count('ok')} quarters of an hour without a fault, ${count('degraded')} degraded, ${count('stalled')} without new slots`;
  host.setAttribute('aria-label', `Health of the last 24 hours: ${words}`);
}

/** Returns the time since a row in whole minutes, at least one. */
const minuteSpan = (endedAt: number): number =>
  Math.max(1, Math.round((nowSec() * 1000 - endedAt) / MINUTE_MS)) * MINUTE_MS;

const DAY_BARS = 96;
const DAY_MS = 86_400_000;

/** Draws the last values as a line without axes. */
function drawSpark(id: string, values: readonly (number | null)[]): void {
  const line = new Sparkline();
  for (const value of values.slice(-60)) line.add(value);
  const drawing = elementById(id, SVGElement);
  drawing.setAttribute('viewBox', SPARKLINE_VIEW);
  drawing.querySelector('path')?.setAttribute('d', line.path);
}

let drawnMs = Number.NEGATIVE_INFINITY;

/** Returns the aim of the network where there is a slot time: without one the plot has a gap. */
const targetBeside = (slotTimeMs: number | null): number | null => slotTimeMs && TARGET_SLOT_MS;

/** Draws the plots, at most once a second: nobody reads them faster. */
function drawPlots(): void {
  drawnMs = performance.now();
  const of = (figure: Figure, short: Columns, values: (row: HistoryRow) => readonly (number | null)[]): void => {
    const { range } = figure;
    figure.show(range === '5m' ? short : historyColumns(rowsOf(range), STEP_SEC[range], values));
  };
  const ofRates = (row: HistoryRow): readonly (number | null)[] => [row.nonVoteTps, row.tps];
  const hasHour = rowsOf('1h').length >= (rates.columns[0]?.length ?? 0);
  if (ratesFigure.range === '1h' && !hasHour) ratesFigure.show(rates.columns);
  else of(ratesFigure, historyColumns(rowsOf('1h'), 10, ofRates), ofRates);
  const [times = [], paces = []] = pace.columns;
  of(paceFigure, [times, paces, paces.map(targetBeside)], ({ slotTimeMs: ms }) => [ms, targetBeside(ms)]);
  of(feesFigure, fees.columns, ({ priorityFee: fee }) =>
    fee ? [fee.low, fee.medium, fee.high].map(Number) : [null, null, null],
  );
  drawSpark('pace-spark', paces);
  drawSpark('fee-spark', fees.columns[2] ?? []);
}

const SECOND_MS = 1000;

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
  stripView.show(strip.cells);
  if (performance.now() - drawnMs >= SECOND_MS) drawPlots();
  showBrowserTab(view);
}

const TITLE = document.title;
let titledMs = Number.NEGATIVE_INFINITY;
let titledState: LiveState | undefined;

/** Shows slot and state in the title of the tab once a second, of a hidden tab when the state changes, and it in its icon. */
function showBrowserTab(view: LineView): void {
  if (view.state === titledState && (document.hidden || performance.now() - titledMs < SECOND_MS)) return;
  titledMs = performance.now();
  titledState = view.state;
  document.title =
    frame === undefined || view.state === 'connecting'
      ? TITLE
      : `${figures.integer(frame.slot)} · ${STATE_WORDS[view.state]} · slotgate`;
  const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  const color = isCurrent(view) ? '0d8f7d' : view.state === 'connecting' || view.state === 'slow' ? 'b07a10' : 'b3202c';
  const href = icon?.href.replace(/%23[0-9a-f]{6}/, `%23${color}`);
  if (icon && href !== undefined && icon.href !== href) icon.href = href;
}

function showFrame(shown: Snapshot, view: LineView): void {
  const old = isOld(view);
  text('slot', figures.integer(shown.slot));
  const age = isCurrent(view) ? `${seconds.format(view.slotAgeMs / 1000)} s` : formatSpan(view.slotAgeMs);
  text('slot-age', view.hasFrame ? `${age} ago` : UNKNOWN);
  text('tps', old ? UNKNOWN : figures.integer(rounded(shown.nonVoteTps)));
  const all = `${figures.integer(rounded(shown.tps))} with votes`;
  text('tps-all', old || shown.tps === null ? UNKNOWN : shown.consensus === 'alpenglow' ? '1-minute average' : all);
  const change = hourTps === 0 || shown.nonVoteTps === null ? 0 : Math.round((shown.nonVoteTps / hourTps - 1) * 100);
  text('tps-hour', old || change === 0 ? '' : ` · ${change < 0 ? '−' : '+'}${Math.abs(change)}% vs 1 h`);
  text('consensus', shown.consensus === null ? UNKNOWN : CONSENSUS_NAMES[shown.consensus]);
  showFigure('slot-time', figures.integer(rounded(shown.slotTimeMs)), 'ms');
  const p95 = percentile95(pace.columns[1] ?? []);
  text('slot-time-p95', p95 === undefined ? '1-minute average' : `average · p95 ${whole(p95)} ms`);
  showFees(shown, old);
  text('epoch', figures.integer(shown.epoch));
  text('epoch-share', figures.percent(shown.epochProgress));
  text('epoch-end', epochEndSec === undefined ? UNKNOWN : `ends in ${formatSpan((epochEndSec - nowSec()) * 1000)}`);
  elementById('bar-done', HTMLElement).style.width = `${shown.epochProgress * 100}%`;
  elementById('bar', HTMLElement).setAttribute('aria-valuenow', (shown.epochProgress * 100).toFixed(1));
}

/** What a transfer of SOL uses, with the two instructions that set its fee, and what a signature costs in lamports. */
const TRANSFER_UNITS = 450;
const SIGNATURE_LAMPORTS = 5000;

const lamportsFor = (units: number, level: number | bigint): number =>
  SIGNATURE_LAMPORTS + Math.ceil((units * Number(level)) / 1e6);

/** Shows what transactions cost, by level of priority. */
function showFees({ priorityFee, priorityFeeLevels: levels }: Snapshot, old: boolean): void {
  const cost = old || priorityFee === null ? null : lamportsFor(TRANSFER_UNITS, priorityFee);
  showFigure('fee', cost === null ? UNKNOWN : figures.decimal(decimalOf(cost, 9)), 'SOL');
  const usd = cost === null || solUsd === null ? '' : `${figures.usd((cost / 1e9) * solUsd)} · `;
  text('fee-range', cost === null ? UNKNOWN : `${usd}medium`);
  const units = Math.min(1_400_000, Math.max(0, Number(elementById('units', HTMLInputElement).value) || 0));
  for (const level of ['low', 'medium', 'high', 'veryHigh'] as const) {
    const price = old ? undefined : levels?.[level];
    showFigure(`fee-${level}`, price === undefined ? UNKNOWN : figures.integer(lamportsFor(units, price)), 'lamports');
    text(`level-${level}`, price === undefined ? UNKNOWN : `${figures.integer(price)} µLam/CU`);
  }
}

/** Returns the value that 95 of 100 are not above; undefined for fewer than 20. */
function percentile95(values: readonly (number | null)[]): number | undefined {
  const known = values.filter((value) => value !== null).sort((a, b) => a - b);
  return known.length < 20 ? undefined : known[Math.ceil(known.length * 0.95) - 1];
}

const CONSENSUS_NAMES = { tower: 'Tower BFT', alpenglow: 'Alpenglow' } as const;

const rounded = (value: number | null): number | null => value && Math.round(value);

function showCluster(genesisHash: string): void {
  const isDemo = report?.health?.embedded != null;
  text('cluster', isDemo ? 'Demo cluster' : `Solana ${CLUSTER_NAMES[genesisHash] ?? shorten(genesisHash)}`);
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
  notice.show(fault, { publicKey, unknownKey });
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
  if (report?.health?.geyser != null) nodes?.push(feedRow(report.health.geyser, isCurrent(view), figures));
  const list = elementById('node-list', HTMLElement);
  const shown = nodes?.map(({ textContent }) => textContent).join('') ?? '';
  if (list.textContent !== shown) list.replaceChildren(...(nodes ?? []));
}

function showHealth(newest: HealthReport | undefined): void {
  report = newest;
  const { health } = newest ?? {};
  if (health !== undefined) {
    text('version', health.version);
    text('agreement', agreementWords(health));
    text('uptime', formatSpan(health.uptimeSec * 1000));
    showCluster(health.cluster);
  }
  showSoon();
}

elementById('units', HTMLElement).addEventListener('input', showSoon);
elementById('read', HTMLElement).addEventListener('click', () => {
  const of = (id: string): string => elementById(id, HTMLElement).textContent ?? '';
  text('spoken', '');
  const values = `${of('state')}. Slot ${of('slot')}, ${of('tps')} transactions per second without votes, slot time ${of('slot-time')}, a simple transfer costs ${of('fee')}, epoch ${of('epoch')}, ${of('epoch-share')}.`;
  setTimeout(() => text('spoken', values), 100);
});
for (const base of document.querySelectorAll('.base')) setText(base, gatewayUrl().href);
enableHeader();
enableCopyButtons();
