import { create } from '../browser/elements.ts';
import { Plot, type PlotOptions } from '../browser/plot.ts';
import { UNKNOWN } from '../format/figures.ts';
import { type Columns, summarize, tableRows } from '../plot/series.ts';

export const RANGES = ['5m', '1h', '24h', '7d'] as const;
export type Range = (typeof RANGES)[number];

export const RANGE_SEC: Readonly<Record<Range, number>> = { '5m': 300, '1h': 3600, '24h': 86_400, '7d': 604_800 };
const RANGE_WORDS: Readonly<Record<Range, string>> = { '5m': '5 min', '1h': '1 h', '24h': '24 h', '7d': '7 d' };

const MINUTE_MS = 60_000;

/** Rows of the table below a plot. */
const TABLE_ROWS = 30;

export interface FigureOptions extends Omit<PlotOptions, 'formatTime'> {
  readonly formatTime: (seconds: number, range: Range) => string;
  readonly title: string;
  /** The number of the line that the summary is about. */
  readonly summaryLine: number;
  readonly range: Range;
  /** Called when the reader has chosen another range. */
  readonly onRange: () => void;
}

/** A plot of the page: the picture, its range, its summary and its table. */
export class Figure {
  readonly #id: string;
  readonly #host: HTMLElement;
  readonly #table: HTMLElement;
  readonly #plot: Plot;
  readonly #options: FigureOptions;
  #range: Range;
  #summaryMs = Number.NEGATIVE_INFINITY;
  #columns: Columns = [];

  constructor(figure: HTMLElement, options: FigureOptions) {
    this.#id = figure.id;
    this.#host = figure.querySelector<HTMLElement>('.plot') ?? figure;
    this.#table = figure.querySelector<HTMLElement>('details .scroll') ?? figure;
    this.#options = options;
    const wanted = new URLSearchParams(location.search).get(figure.id);
    this.#range = RANGES.find((range) => range === wanted) ?? options.range;
    this.#plot = new Plot(this.#host, { ...options, formatTime: this.#formatTime }, RANGE_SEC[this.#range]);
    figure.querySelector('details')?.addEventListener('toggle', () => this.#showTable());
    this.#addRanges(figure.querySelector('.ranges'));
  }

  readonly #formatTime = (seconds: number): string => this.#options.formatTime(seconds, this.#range);

  get range(): Range {
    return this.#range;
  }

  show(columns: Columns): void {
    this.#columns = columns;
    this.#plot.show(columns, RANGE_SEC[this.#range]);
    const nowMs = performance.now();
    if (nowMs - this.#summaryMs < MINUTE_MS || (columns[0]?.length ?? 0) < 2) return;
    this.#summaryMs = nowMs;
    const { title, summaryLine, format } = this.#options;
    this.#host.setAttribute('aria-label', summarize(title, columns, summaryLine, format));
    this.#showTable();
  }

  /** Adds the buttons by which the range is chosen, which the URL keeps. */
  #addRanges(group: Element | null): void {
    const buttons = RANGES.map((range) => {
      const button = create('button', { type: 'button' }, RANGE_WORDS[range]);
      button.addEventListener('click', () => {
        this.#range = range;
        const url = new URL(location.href);
        url.searchParams.set(this.#id, range);
        history.replaceState(null, '', url);
        mark();
        this.#summaryMs = Number.NEGATIVE_INFINITY;
        this.#options.onRange();
      });
      return button;
    });
    const mark = (): void => {
      for (const [at, button] of buttons.entries())
        button.setAttribute('aria-pressed', String(RANGES[at] === this.#range));
    };
    mark();
    group?.append(...buttons);
  }

  #showTable(): void {
    const { lines, format } = this.#options;
    const head = create(
      'tr',
      {},
      ...['Time', ...lines.map(({ label }) => label)].map((name) => create('th', {}, name)),
    );
    const rows = tableRows(this.#columns, TABLE_ROWS).map(([time, ...values]) =>
      create(
        'tr',
        {},
        create('td', {}, typeof time === 'number' ? this.#formatTime(time) : ''),
        ...values.map((value) => create('td', {}, value === null ? UNKNOWN : format(value))),
      ),
    );
    this.#table.replaceChildren(create('table', {}, create('thead', {}, head), create('tbody', {}, ...rows)));
  }
}
