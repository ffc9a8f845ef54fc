import type { Snapshot } from '../../client/index.ts';
import { tryOrUndefined } from '../../shared/domain/try-or-undefined.ts';
import { Announcer } from '../live/announcer.ts';
import {
  describeView,
  isOld,
  type LineView,
  type LiveState,
  newLine,
  STATE_WORDS,
  timeOf,
  viewOf,
} from '../live/state.ts';
import { FIELDS, fieldNames, fieldText, type Rate, rateOf } from './fields.ts';
import { sharedFeed } from './shared-feed.ts';
import { readSkipRate } from './skip-rate.ts';
import { SPARKLINE_VIEW, Sparkline } from './sparkline.ts';
import { STYLE } from './style.ts';
import type { Verify } from './verify.ts';

const MINUTE_MS = 60_000;
/** The pause before another read where a gateway has just begun, and knows nothing of the hour before. */
const UNKNOWN_PAUSE_MS = 10_000;
const INTERVALS: ReadonlySet<number> = new Set([1000, 5000, 10_000]);

export interface WidgetOptions {
  /** The gateway of elements without `src`; it ends with a slash. */
  readonly gateway?: string | undefined;
  /** Checks each frame, and the history, before it is shown. Frames then come over WebSocket only, each with its receipt. */
  readonly verify?: Verify;
}

/** Defines `<slotgate-status>`, unless the page has it already. */
export function defineStatusElement({ gateway, verify }: WidgetOptions = {}): void {
  if (customElements.get('slotgate-status') !== undefined) return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);

  /** The state of the Solana network, as a gateway sees it, kept current. */
  class SlotgateStatus extends HTMLElement {
    static readonly observedAttributes = ['src', 'fields', 'interval', 'label', 'lang', 'href'];
    readonly #internals = this.attachInternals();
    readonly #root = create('div', 'root');
    readonly #word = create('span', 'word');
    readonly #time = create('span', 'time');
    readonly #state = create('div', 'state');
    readonly #said = create('span', 'said');
    readonly #announcer = new Announcer();
    readonly #values = new Map<string, HTMLElement>();
    readonly #sparkPath = createSvg('path');
    #sparkline = new Sparkline();
    #rate: Rate | undefined;
    #numbers = new Intl.NumberFormat();
    #view: LineView = viewOf(newLine(0), 0);
    /** What stands in the card in place of a gateway that `src` does not name. */
    #problem: string | undefined;
    #frame: Snapshot | undefined;
    #skippedShare: number | null = null;
    #skippedMs = Number.NEGATIVE_INFINITY;
    #stop: (() => void) | undefined;
    #feed = '';
    #isScheduled = false;

    constructor() {
      super();
      const shadow = this.attachShadow({ mode: 'open' });
      shadow.adoptedStyleSheets = [sheet];
      this.#said.setAttribute('role', 'status');
      shadow.append(this.#root, this.#said);
    }

    get state(): LiveState {
      return this.#view.state;
    }

    /** The newest snapshot; undefined before the first. */
    get frame(): Snapshot | undefined {
      return this.#frame;
    }

    connectedCallback(): void {
      this.#internals.role = 'group';
      this.#draw();
      this.#schedule();
    }

    disconnectedCallback(): void {
      this.#stop?.();
      this.#stop = undefined;
    }

    attributeChangedCallback(): void {
      this.#schedule();
    }

    /** Gathers changes of one turn: a parser sets the attributes one by one, and each would open a connection. */
    #schedule(): void {
      if (this.#isScheduled) return;
      this.#isScheduled = true;
      queueMicrotask(() => {
        this.#isScheduled = false;
        if (!this.isConnected) return;
        this.#draw();
        this.#follow();
      });
    }

    #draw(): void {
      this.#internals.ariaLabel = this.getAttribute('label') ?? 'Solana network status';
      this.#numbers = numbersFor(this.lang || document.documentElement.lang);
      this.#state.replaceChildren(create('span', 'dot'), this.#linked(this.#word), this.#time);
      const list = create('dl', 'values');
      this.#values.clear();
      const { known: names, unknown } = fieldNames(this.getAttribute('fields'));
      if (unknown.length > 0) console.warn(`slotgate-status: there is no field ${unknown.join(', ')}`);
      for (const name of names) {
        const label = create('dt', 'label');
        const value = create('dd', 'value');
        value.part.add(`value-${name}`);
        label.textContent = FIELDS[name]?.label ?? name;
        const pair = document.createElement('div');
        pair.append(label, value);
        list.append(pair);
        this.#values.set(name, value);
      }
      this.#root.replaceChildren(this.#state, list);
      this.#drawSparkline(rateOf(names));
      this.#show(this.#view);
    }

    /** Links the word to the gateway's own page, or to the page that the attribute names. */
    #linked(word: HTMLElement): HTMLElement {
      const href = this.getAttribute('href');
      const target = href === null ? undefined : href === '' ? this.#base : pageOf(href);
      if (target === undefined) return word;
      const link = document.createElement('a');
      link.part.add('link');
      link.href = target;
      link.append(word);
      return link;
    }

    /** Keeps the room of the sparkline from the first paint on: nothing moves when its values come. */
    #drawSparkline(rate: Rate | undefined): void {
      if (rate !== this.#rate) this.#clearSparkline();
      this.#rate = rate;
      if (rate === undefined) return;
      const drawing = createSvg('svg');
      drawing.classList.add('spark');
      drawing.part.add('spark');
      drawing.ariaHidden = 'true'; // the values say the same
      drawing.setAttribute('viewBox', SPARKLINE_VIEW);
      drawing.setAttribute('preserveAspectRatio', 'none');
      drawing.append(this.#sparkPath);
      this.#root.append(drawing);
    }

    #clearSparkline(): void {
      this.#sparkline = new Sparkline();
      this.#sparkPath.setAttribute('d', '');
    }

    /** The gateway; undefined if none is named. */
    get #base(): string | undefined {
      const src = this.getAttribute('src');
      return src === null ? gateway : pageOf(src.replace(/\/*$/, '/'));
    }

    #follow(): void {
      const src = this.getAttribute('src');
      const base = this.#base;
      const wanted = Number(this.getAttribute('interval'));
      const interval = INTERVALS.has(wanted) ? wanted : 1000;
      const feed = `${base} ${interval}`;
      this.#problem = base === undefined ? `No gateway at ${src ?? 'src'}` : undefined;
      if (base === undefined) {
        console.warn('slotgate-status: the attribute src must name a gateway by an http: or https: URL');
        this.disconnectedCallback();
        this.#onView({ ...viewOf(newLine(0), 0), state: 'offline' }, undefined);
        return;
      }
      if (this.#stop !== undefined && feed === this.#feed) return;
      this.#stop?.();
      if (feed !== this.#feed) {
        this.#clearSparkline();
        this.#skippedMs = Number.NEGATIVE_INFINITY;
        this.#skippedShare = null;
      }
      this.#feed = feed;
      this.#stop = sharedFeed(base, interval, verify).listen((view, frame) => {
        this.#onView(view, frame);
      });
    }

    #onView(view: LineView, frame: Snapshot | undefined): void {
      const isNew = frame !== undefined && frame !== this.#frame;
      const previous = this.#view.state;
      this.#frame = frame;
      this.#view = view;
      this.#show(view);
      if (isNew && this.#values.has('skip-rate')) void this.#readSkipped();
      if (isNew || isOld(view)) this.#extendSparkline(isNew ? frame : undefined);
      if (isNew) this.#emit('slotgate-frame', frame);
      if (view.state !== previous) this.#emit('slotgate-state', { state: view.state, previous });
    }

    /** Reads each minute how many slots of the last hour were skipped: a frame knows its own slot only. */
    async #readSkipped(): Promise<void> {
      const pauseMs = this.#skippedShare === null ? UNKNOWN_PAUSE_MS : MINUTE_MS;
      if (performance.now() - this.#skippedMs < pauseMs) return;
      this.#skippedMs = performance.now();
      const feed = this.#feed;
      const share = await readSkipRate(String(this.#base), verify);
      if (share === undefined || feed !== this.#feed) return; // the next minute tries again; or another gateway is shown now
      this.#skippedShare = share;
      this.#show(this.#view);
    }

    /** Adds the rate of a frame; without one a gap, as the time between two frames isn't to be seen in the line. */
    #extendSparkline(frame: Snapshot | undefined): void {
      if (this.#rate === undefined) return;
      this.#sparkline.add(frame?.[this.#rate] ?? null);
      this.#sparkPath.setAttribute('d', this.#sparkline.path);
    }

    #show(view: LineView): void {
      const { states } = this.#internals;
      if (!states.has(view.state)) {
        states.clear();
        states.add(view.state);
      }
      setText(this.#word, this.#problem ?? STATE_WORDS[view.state]);
      setText(this.#time, this.#problem === undefined ? timeOf(view) : '');
      this.#state.title = this.#problem ?? describeView(view);
      const announcement = this.#announcer.next(view.state, performance.now());
      if (announcement !== undefined) setText(this.#said, announcement);
      const frame = this.#frame && { ...this.#frame, skippedShare: this.#skippedShare };
      for (const [name, value] of this.#values) setText(value, fieldText(name, frame, isOld(view), this.#numbers));
    }

    #emit(type: string, detail: unknown): void {
      this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }));
    }
  }

  customElements.define('slotgate-status', SlotgateStatus);
}

/** Returns the URL of a page or of a gateway; undefined if it can be none. */
function pageOf(text: string): string | undefined {
  const url = tryOrUndefined(() => new URL(text, document.baseURI));
  return url && /^https?:$/.test(url.protocol) ? url.href : undefined;
}

const numbersFor = (lang: string): Intl.NumberFormat =>
  tryOrUndefined(() => new Intl.NumberFormat(lang || undefined)) ?? new Intl.NumberFormat(); // the page's language tag may be none

function create(tag: string, name: string): HTMLElement {
  const created = document.createElement(tag);
  created.className = name;
  created.part.add(name);
  return created;
}

const createSvg = <Tag extends 'svg' | 'path'>(tag: Tag): SVGElementTagNameMap[Tag] =>
  document.createElementNS('http://www.w3.org/2000/svg', tag);

function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
