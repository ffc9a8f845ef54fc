import uPlot from 'uplot';
import { type Columns, spansWithout } from '../plot/series.ts';
import { TIME_STEPS } from '../plot/time-steps.ts';
import { create } from './elements.ts';
import { onThemeChange } from './theme.ts';

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
  /** The time now, in Unix seconds: plots end there. */
  readonly nowSec: () => number;
  /** Since when there are values, in Unix seconds; before that only what the plot itself has. */
  readonly sinceSec: () => number;
}

const HEIGHT = 150;
const AXIS_WIDTH = 58;
/** The least part of its span that a plot shows, while there are no values of the time before. */
const LEAST_SPAN = 0.2;
/** So few points are shown as such: the line between them may be too short to see. */
const FEW_POINTS = 4;
/** The part of its span that may have passed since the newest value: beyond it the time is hatched. */
const LATE_SHARE = 1 / 30;
/** The distance of the lines of a hatching, in CSS pixels. */
const HATCH = 7;
const FONT = '11px system-ui, sans-serif';
/** The least distance of two times below a plot, and the room for half of one at its end. */
const TIME_SPACE = 54;
const TIME_ROOM = 32;

/** A plot by uPlot: hovering and the arrow keys read its values, dragging zooms, a double click or the button shows all again. */
export class Plot {
  readonly #host: HTMLElement;
  readonly #options: PlotOptions;
  readonly #reset = create('button', { type: 'button', class: 'reset', hidden: '' }, 'Reset zoom');
  #plot: uPlot;
  #columns: Columns = [];
  #spanSec: number;
  #isZoomed = false;

  constructor(host: HTMLElement, options: PlotOptions, spanSec: number) {
    this.#host = host;
    this.#options = options;
    this.#spanSec = spanSec;
    this.#plot = this.#create();
    host.after(this.#reset);
    const showAll = (): void => {
      this.#setZoomed(false);
      this.show(this.#columns, this.#spanSec);
    };
    this.#reset.addEventListener('click', showAll);
    host.addEventListener('dblclick', showAll);
    host.tabIndex = 0;
    host.title = 'Drag to zoom, double click to see all. No values: hatched.';
    host.addEventListener('keydown', (event) => this.#moveCursor(event));
    new ResizeObserver(() => this.#resize()).observe(host);
    onThemeChange(() => {
      this.#plot.destroy(); // its legend keeps the colours that it was made with
      this.#plot = this.#create();
      this.show(this.#columns, this.#spanSec);
    });
  }

  /** Shows these points over a span that ends now. What was zoomed into stays in view. */
  show(columns: Columns, spanSec: number): void {
    this.#columns = columns;
    this.#spanSec = spanSec;
    if ((columns[0]?.length ?? 0) === 0) return;
    this.#plot.setData(columns as uPlot.AlignedData, !this.#isZoomed); // copies of numbers in one order: it only reads them
    if (this.#isZoomed) this.#plot.redraw();
  }

  #create(): uPlot {
    const { lines, format, formatTime, nowSec } = this.#options;
    const canvas = create('div', { 'aria-hidden': 'true' });
    const probe = create('span', { hidden: '' });
    this.#host.replaceChildren(canvas, probe);
    const color = (name: string): string => {
      probe.style.color = `var(${name})`; // of light-dark() only a colour that is used has a value
      return getComputedStyle(probe).color;
    };
    const grid = { stroke: color('--line'), width: 1 };
    const axis: uPlot.Axis = { stroke: color('--muted'), font: FONT, grid, ticks: { ...grid, size: 4 } };
    const options: uPlot.Options = {
      width: this.#width,
      height: HEIGHT,
      padding: [null, TIME_ROOM, null, null],
      cursor: { points: { size: 6 }, y: false },
      legend: { live: true },
      scales: {
        x: { range: (_, from, to) => (this.#isZoomed ? [from, to] : this.#wholeRange()) },
        y: { range: (_, low, high) => rangeOf(low, high) },
      },
      axes: [
        { ...axis, incrs: [...TIME_STEPS], space: TIME_SPACE, size: 24, values: (_, splits) => splits.map(formatTime) },
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
        drawClear: [(plot) => this.#hatch(plot, color('--line'))],
        setSelect: [({ select }) => this.#setZoomed(select.width > 0)],
      },
    };
    return new uPlot(options, [[nowSec()], ...lines.map(() => [null])], canvas);
  }

  /** Hatches the time of which there are no values. */
  #hatch({ ctx, bbox, valToPos }: uPlot, color: string): void {
    const step = HATCH * devicePixelRatio;
    ctx.save();
    ctx.beginPath();
    const now = this.#options.nowSec();
    for (const [from, to] of spansWithout(this.#columns, now, this.#spanSec * LATE_SHARE)) {
      const left = Math.max(bbox.left, valToPos(from, 'x', true));
      const right = Math.min(bbox.left + bbox.width, valToPos(to, 'x', true));
      if (right > left) ctx.rect(left, bbox.top, right - left, bbox.height);
    }
    ctx.clip();
    ctx.beginPath();
    for (let x = bbox.left - bbox.height; x < bbox.left + bbox.width; x += step) {
      ctx.moveTo(x, bbox.top + bbox.height);
      ctx.lineTo(x + bbox.height, bbox.top);
    }
    ctx.strokeStyle = color;
    ctx.lineWidth = 2 * devicePixelRatio;
    ctx.stroke();
    ctx.restore();
  }

  /** All of the span, or as much of it as the gateway has seen. */
  #wholeRange(): [number, number] {
    const { nowSec, sinceSec } = this.#options;
    const now = nowSec();
    const seenSec = now - Math.min(sinceSec(), this.#columns[0]?.[0] ?? now);
    return [now - Math.min(this.#spanSec, Math.max(seenSec, this.#spanSec * LEAST_SPAN)), now];
  }

  get #width(): number {
    return Math.max(200, this.#host.clientWidth);
  }

  /** Moves the cursor to the next point by the arrow keys, at first from the newest. */
  #moveCursor(event: KeyboardEvent): void {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const [times] = this.#plot.data;
    const at = Math.max(0, Math.min(times.length - 1, (this.#plot.cursor.idx ?? times.length) + step));
    this.#plot.setCursor({ left: this.#plot.valToPos(times[at] ?? 0, 'x'), top: 0 });
  }

  #setZoomed(isZoomed: boolean): void {
    this.#isZoomed = isZoomed;
    this.#reset.hidden = !isZoomed;
  }

  #resize(): void {
    if (this.#width !== this.#plot.width) this.#plot.setSize({ width: this.#width, height: HEIGHT });
  }
}

/** Returns a range from zero with some room above. */
function rangeOf(low: number | null, high: number | null): [number, number] {
  const bottom = Math.min(0, low ?? 0);
  return [bottom, Math.max((high ?? 0) * 1.1, bottom + 10)];
}
