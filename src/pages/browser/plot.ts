import uPlot from 'uplot';
import type { Columns } from '../plot/series.ts';
import { create } from './elements.ts';

export interface PlotLine {
  readonly label: string;
  readonly color: string;
  readonly isFilled?: boolean;
  readonly dash?: readonly number[];
}

export interface PlotOptions {
  readonly lines: readonly PlotLine[];
  readonly format: (value: number) => string;
  readonly formatTime: (seconds: number) => string;
  /** The time that the plot covers, up to its newest point, in seconds. */
  readonly spanSec: number;
}

const HEIGHT = 150;
const AXIS_WIDTH = 58;
/** So few points are shown as such: the line between them may be too short to see. */
const FEW_POINTS = 4;
const FONT = '11px system-ui, sans-serif';

/** A plot by uPlot: hovering reads its values, dragging zooms, a double click shows all again. */
export class Plot {
  readonly #plot: uPlot;
  #isZoomed = false;

  constructor(host: HTMLElement, { lines, format, formatTime, spanSec }: PlotOptions) {
    const canvas = create('div', { 'aria-hidden': 'true' });
    host.append(canvas);
    const probe = create('span', { hidden: '' });
    host.append(probe);
    const color = (name: string) => () => {
      probe.style.color = `var(${name})`;
      return getComputedStyle(probe).color;
    };
    const grid = { stroke: color('--line'), width: 1 };
    const axis: uPlot.Axis = { stroke: color('--muted'), font: FONT, grid, ticks: { ...grid, size: 4 } };
    const options: uPlot.Options = {
      width: Math.max(200, host.clientWidth),
      height: HEIGHT,
      cursor: { points: { size: 6 }, y: false },
      legend: { live: true },
      scales: {
        x: { range: (_, from, to) => (this.#isZoomed ? [from, to] : [to - spanSec, to]) },
        y: { range: (_, low, high) => rangeOf(low, high) },
      },
      axes: [
        { ...axis, space: 70, size: 24, values: (_, splits) => splits.map(formatTime) },
        { ...axis, space: 32, size: AXIS_WIDTH, values: (_, splits) => splits.map((value) => format(value)) },
      ],
      series: [
        { label: 'Time', value: (_, time) => (time === null ? '' : formatTime(time)) },
        ...lines.map(
          (line): uPlot.Series => ({
            label: line.label,
            stroke: color(line.color),
            width: 1.5,
            points: { show: ({ data }) => (data[0]?.length ?? 0) < FEW_POINTS, size: 5 },
            value: (_, value) => (value === null ? '–' : format(value)),
            ...(line.isFilled && { fill: color(`${line.color}-fill`) }),
            ...(line.dash && { dash: [...line.dash] }),
          }),
        ),
      ],
      hooks: {
        setSelect: [
          ({ select }) => {
            this.#isZoomed = select.width > 0;
          },
        ],
      },
    };
    this.#plot = new uPlot(options, [[Date.now() / 1000], ...lines.map(() => [null])], canvas);
    host.addEventListener('dblclick', () => {
      this.#isZoomed = false;
    });
    new ResizeObserver(() => this.#resize(host)).observe(host);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#plot.redraw(false));
  }

  /** Shows these points. What was zoomed into stays in view. */
  show(columns: Columns): void {
    if (columns[0]?.length === 0) return;
    this.#plot.setData(columns as uPlot.AlignedData, !this.#isZoomed); // copies of numbers in one order: it only reads them
    if (this.#isZoomed) this.#plot.redraw();
  }

  #resize(host: HTMLElement): void {
    const width = Math.max(200, host.clientWidth);
    if (width !== this.#plot.width) this.#plot.setSize({ width, height: HEIGHT });
  }
}

/** Returns a range from zero with some room above. */
function rangeOf(low: number | null, high: number | null): [number, number] {
  const bottom = Math.min(0, low ?? 0);
  return [bottom, Math.max((high ?? 0) * 1.1, bottom + 10)];
}
