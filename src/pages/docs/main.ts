import { DEMO_ADDRESSES } from '../../shared/domain/demo-addresses.ts';
import { indentJson } from '../../shared/domain/indent-json.ts';
import { WRAPPED_SOL } from '../../shared/domain/known-mints.ts';
import { visibleText } from '../../shared/domain/visible-text.ts';
import { SYSTEM_PROGRAM, VOTE_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import { enableCopyButtons } from '../browser/copy-buttons.ts';
import { create, elementById, setText } from '../browser/elements.ts';
import { apiUrl, gatewayUrl } from '../browser/gateway-url.ts';
import { enableHeader } from '../browser/header.ts';
import { wordsOf } from '../format/amounts.ts';
import { FIELDS } from '../widget/fields.ts';
import { type FilledRequest, type Language, languagesFor, snippetOf, urlOf } from './snippets.ts';

/** The key that was typed in last: it stays in the memory of the page. */
let apiKey = '';

/** Values that exist on any cluster. */
const EXAMPLES: Readonly<Record<string, string>> = {
  addr: VOTE_PROGRAM,
  addresses: `${VOTE_PROGRAM},${WRAPPED_SOL}`,
  owner: VOTE_PROGRAM,
  mint: WRAPPED_SOL,
  q: WRAPPED_SOL,
};

/** A transfer of 1 SOL, as a node records it with the encoding `json`. */
const TRANSFER = {
  transaction: {
    signatures: ['1'],
    message: {
      header: { numRequiredSignatures: 1, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 1 },
      accountKeys: [VOTE_PROGRAM, WRAPPED_SOL, SYSTEM_PROGRAM],
      instructions: [{ programIdIndex: 2, accounts: [0, 1], data: '3Bxs3zzLZLuLQEYX' }],
    },
  },
  meta: { err: null, fee: 5000, preBalances: [3e9, 0, 1], postBalances: [1999995000, 1e9, 1] },
};

const BODIES: Readonly<Record<string, string>> = {
  '/rpc': '{"method":"getSlot"}',
  '/explain': JSON.stringify({ tx: TRANSFER }, null, 1),
};

/** The longest part of an answer that is shown. */
const SHOWN_CHARACTERS = 20_000;
const SHOWN_FRAMES = 3;

interface Field {
  readonly name: string;
  readonly place: string;
  readonly type: string;
  readonly input: HTMLInputElement | HTMLSelectElement;
}

let fieldCount = 0;

function fieldsOf(route: HTMLElement): readonly Field[] {
  return [...route.querySelectorAll(':scope > table tr')].map((row) => {
    const [nameCell, typeCell] = row.children;
    const name = nameCell?.querySelector('code')?.textContent ?? '';
    const [place = '', type = ''] = (typeCell?.textContent ?? '').split(', ');
    const isRequired = nameCell?.querySelector('b') !== null;
    fieldCount++;
    const id = `field-${fieldCount}`;
    const values = [...type.matchAll(/"([^"]+)"/g)].map(([, value = '']) => value);
    if (values.length > 1) {
      const options = ['', ...values].map((value) => create('option', { value }, value));
      return { name, place, type, input: create('select', { id }, ...options) };
    }
    const input = create('input', { id, spellcheck: 'false', autocomplete: 'off', placeholder: type });
    if (isRequired) input.value = EXAMPLES[name] ?? '';
    input.required = isRequired;
    return { name, place, type, input };
  });
}

function addTrial(route: HTMLElement): void {
  const { method = 'get', path = '', signed } = route.dataset;
  const isSigned = signed !== undefined;
  const fields = fieldsOf(route).filter(
    ({ place, name }) => place !== 'body' && (path !== '/stream' || place === 'query' || name === ''),
  );
  const body = create('textarea', { spellcheck: 'false', 'aria-label': 'Body' }, BODIES[path] ?? '{}');
  fieldCount++;
  const key = create('input', {
    id: `field-${fieldCount}`,
    type: 'password',
    autocomplete: 'off',
    placeholder: 'none: the free tier',
    value: apiKey,
  });
  key.addEventListener('input', () => {
    apiKey = key.value.trim();
    for (const each of document.querySelectorAll<HTMLInputElement>('input[type=password]')) {
      if (each === key) continue;
      each.value = key.value;
      each.form?.dispatchEvent(new Event('input'));
    }
  });
  const form = create(
    'form',
    {},
    ...fields.flatMap(({ name, input }) => [create('label', { for: input.id }, create('code', {}, name)), input]),
    ...(method === 'post' ? [create('span', {}, 'Body'), body] : []),
    create('label', { for: key.id }, 'API key'),
    key,
  );
  const read = (): FilledRequest => {
    const filled = fields.filter(({ input }) => input.value.trim() !== '');
    const valuesIn = (wanted: string): Record<string, string> =>
      Object.fromEntries(
        filled.filter(({ place }) => place === wanted).map(({ name, input }) => [name, input.value.trim()]),
      );
    return {
      base: gatewayUrl().href,
      method,
      path,
      pathValues: valuesIn('path'),
      query: valuesIn('query'),
      headers: { ...valuesIn('header'), ...(apiKey !== '' && { 'X-Api-Key': apiKey }) },
      types: Object.fromEntries(fields.map(({ name, type }) => [name, type])),
      isSigned,
      ...(method === 'post' && { body: body.value }),
    };
  };
  const output = create('div', { 'aria-live': 'polite' });
  const send = create('button', { class: 'primary', type: 'submit' }, path === '/stream' ? 'Open' : 'Send');
  form.append(create('span'), create('div', {}, send));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (path === '/stream') showFrames(output, read());
    else void showAnswer(output, read());
  });
  const snippets = path === '/stream' ? '' : snippetsOf(form, read);
  route.querySelector('.try')?.append(snippets, create('details', {}, create('summary', {}, 'Send'), form, output));
}

function snippetsOf(form: HTMLElement, read: () => FilledRequest): HTMLElement {
  const pre = create('pre', { tabindex: '0' });
  const copy = create('button', { type: 'button', 'data-copy': '' }, 'Copy');
  let chosen: Language = 'curl';
  const buttons = languagesFor(read()).map((language) => {
    const button = create('button', { type: 'button' }, language);
    button.addEventListener('click', () => {
      chosen = language;
      update();
    });
    return button;
  });
  const update = (): void => {
    const text = snippetOf(chosen, read());
    setText(pre, text);
    copy.dataset['copy'] = text;
    for (const button of buttons) button.setAttribute('aria-pressed', String(button.textContent === chosen));
  };
  form.addEventListener('input', update);
  update();
  return create(
    'div',
    {},
    create('div', { class: 'row', role: 'group', 'aria-label': 'Language' }, ...buttons, copy),
    pre,
  );
}

async function showAnswer(output: HTMLElement, request: FilledRequest): Promise<void> {
  const sending = create('p', { class: 'muted' }, 'Sending…');
  output.replaceChildren(sending);
  /** Shows an answer in the place of what waits for it, unless another request was sent since. */
  const show = (...children: HTMLElement[]): void => sending.replaceWith(...children);
  const startedMs = performance.now();
  try {
    const { body, headers } = request;
    const response = await fetch(urlOf(request), {
      method: request.method.toUpperCase(),
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body }),
      cache: 'no-store',
    });
    const text = await response.text();
    const tookMs = Math.round(performance.now() - startedMs);
    const shownHeaders = ['X-Slot', 'X-Cache', 'X-RateLimit-Remaining', 'Retry-After']
      .map((name) => [name, response.headers.get(name)])
      .filter(([, value]) => value !== null)
      .map(([name, value]) => `${name}: ${value}`);
    const status = create(
      'p',
      { class: response.ok ? 'good' : 'bad' },
      `${response.status} in ${tookMs} ms. ${shownHeaders.join(', ')}`,
    );
    const pre = create('pre', { tabindex: '0' }, visibleText(indentJson(text)).slice(0, SHOWN_CHARACTERS));
    show(status, pre, ...linksOf(response, text, request));
  } catch {
    show(create('p', { class: 'bad' }, 'The gateway did not answer.'));
  }
}

/** Links an answer to what proves it, or an error to its cure. */
function linksOf(response: Response, text: string, request: FilledRequest): HTMLElement[] {
  if (response.ok && request.isSigned) {
    const target = urlOf(request).slice(request.base.length - 1);
    const nonce = request.headers['X-Receipt-Nonce'] ?? '';
    const href = `${gatewayUrl()}verify#${new URLSearchParams({ body: text, request: `GET ${target}`, nonce })}`;
    return [create('a', { href }, 'Verify this answer')];
  }
  const [, code] = /^\{"error":"(\w+)"/.exec(text) ?? [];
  return code === undefined
    ? []
    : [create('a', { href: `${gatewayUrl()}docs/errors#error-${code}` }, `What ${code} means, and what to do`)];
}

let frames: WebSocket | undefined;

function showFrames(output: HTMLElement, request: FilledRequest): void {
  frames?.close();
  const pre = create('pre', { tabindex: '0' });
  output.replaceChildren(pre);
  const socket = new WebSocket(urlOf(request).replace(/^http/, 'ws'), apiKey === '' ? [] : ['slotgate', apiKey]);
  frames = socket;
  let count = 0;
  socket.onmessage = ({ data }) => {
    pre.append(`${typeof data === 'string' ? visibleText(data) : `${data.size} bytes of MessagePack`}\n`);
    count++;
    if (count >= SHOWN_FRAMES) socket.close();
  };
  socket.onclose = ({ code }) => pre.append(`closed: ${code}\n`);
}

function addBuilder(builder: HTMLElement): void {
  const boxes = Object.entries(FIELDS).map(([name, { label }]) => {
    const box = create('input', { type: 'checkbox', value: name });
    box.checked = ['slot', 'tps', 'slot-time', 'epoch'].includes(name);
    return { box, label: create('label', {}, box, label) };
  });
  const choice = (
    name: string,
    values: readonly string[],
  ): { readonly select: HTMLSelectElement; readonly label: HTMLElement } => {
    const select = create('select', { name }, ...values.map((value) => create('option', { value }, value)));
    return { select, label: create('label', {}, `${wordsOf(name)} `, select) };
  };
  const choices = [
    choice('theme', ['auto', 'light', 'dark']),
    choice('size', ['card', 'line']),
    choice('interval', ['1000', '5000', '10000']),
  ];
  const [, size] = choices;
  const widget = document.createElement('slotgate-status');
  const code = create('code', { id: 'widget-code' });
  const frame = create('code', { id: 'frame-code' });
  const form = create(
    'form',
    {},
    create('div', { class: 'row', role: 'group', 'aria-label': 'Fields' }, ...boxes.map(({ label }) => label)),
    create('div', { class: 'row' }, ...choices.map(({ label }) => label)),
  );
  const update = (): void => {
    const fields = boxes.filter(({ box }) => box.checked).map(({ box }) => box.value);
    const attributes = [
      ['fields', fields.join(' ')],
      ...choices.map(({ select }) => [select.name, select.selectedIndex === 0 ? '' : select.value]),
    ] as const;
    for (const [name = '', value = ''] of attributes) {
      if (value === '') widget.removeAttribute(name);
      else widget.setAttribute(name, value);
    }
    const chosen = attributes.filter(([, value]) => value !== '');
    const text = chosen.map(([name, value]) => ` ${name}="${value}"`).join('');
    setText(code, `<script src="${gatewayUrl()}widget.js" async></script>\n<slotgate-status${text}></slotgate-status>`);
    const src = `${gatewayUrl()}embed?${new URLSearchParams(Object.fromEntries(chosen))}`;
    const isLine = size?.select.value === 'line';
    requestAnimationFrame(() => {
      const height = isLine ? 40 : Math.max(180, widget.offsetHeight + 4); // it has drawn its fields
      setText(
        frame,
        `<iframe src="${src}" width="${isLine ? 480 : 300}" height="${height}" title="Solana" style="border:0"></iframe>`,
      );
    });
  };
  form.addEventListener('input', update);
  form.addEventListener('submit', (event) => event.preventDefault());
  const copy = create('button', { type: 'button', 'data-copy': '#widget-code' }, 'Copy both lines');
  const badges = ['slot', 'tps', 'health'].map((field) => {
    const src = `${gatewayUrl()}badge.svg?field=${field}`;
    const picture = create('img', { src, height: '20', alt: `Badge: ${field}` });
    const markdown = `[![Solana ${field}](${src})](${gatewayUrl()})`;
    return create(
      'div',
      { class: 'badge-row' },
      picture,
      create('code', {}, markdown),
      create('button', { type: 'button', 'data-copy': markdown, 'aria-label': `Copy the badge ${field}` }, 'Copy'),
    );
  });
  const copyFrame = create('button', { type: 'button', 'data-copy': '#frame-code' }, 'Copy the frame');
  builder.append(form, create('div', { class: 'preview' }, widget), create('pre', { tabindex: '0' }, code), copy);
  builder.append(create('h3', {}, 'Where no script may be added'), create('pre', { tabindex: '0' }, frame), copyFrame);
  builder.append(create('h3', {}, 'Badges for a README'), ...badges);
  update();
}

/** Lists only the entries of the contents that have the words, and all others again for no words. */
function enableFind(): HTMLInputElement {
  const find = elementById('find', HTMLInputElement);
  const entries = [...document.querySelectorAll('.contents ul li')];
  const show = (): void => {
    const words = find.value.trim().toLowerCase().split(/\s+/);
    document.body.classList.toggle('finding', words[0] !== '');
    for (const entry of entries) {
      const text = (entry.textContent ?? '').toLowerCase(); // of a chapter with those of its sections
      entry.classList.toggle(
        'found',
        words.every((word) => text.includes(word)),
      );
    }
  };
  find.addEventListener('input', show);
  find.addEventListener('keydown', ({ key }) => {
    if (key !== 'Enter') return;
    const link = (selector: string): HTMLElement | null => document.querySelector<HTMLElement>(`${selector} .found a`);
    (link('.contents ul ul') ?? link('.contents ul'))?.click();
  });
  return find;
}

/** The address of the chapters, and an account of their examples that only the embedded cluster has. */
const WRITTEN_ORIGIN = /(https?|ws):\/\/127\.0\.0\.1:8787/g;

/** Writes the gateway of this page, and an account that its cluster has, into the examples. */
async function fillExamples(): Promise<void> {
  const { host, protocol, pathname } = gatewayUrl();
  const isSecure = protocol === 'https:';
  const base = `${host}${pathname.replace(/\/$/, '')}`;
  rewrite((text) =>
    text.replace(
      WRITTEN_ORIGIN,
      (_, scheme: string) => `${scheme === 'ws' ? 'ws' : 'http'}${isSecure ? 's' : ''}://${base}`,
    ),
  );
  const read = await fetch(apiUrl(`/balance/${DEMO_ADDRESSES.whale}`));
  const isThere = read.ok && !/"lamports":0,/.test(await read.text());
  if (!isThere) rewrite((text) => text.replaceAll(DEMO_ADDRESSES.whale, VOTE_PROGRAM));
}

/** Changes the texts of code, which is as wide as it is: what is read beside it does not move. */
function rewrite(change: (text: string) => string): void {
  for (const code of document.querySelectorAll('main :is(pre, code)')) {
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
      const changed = change(text.nodeValue ?? '');
      if (changed !== text.nodeValue) text.nodeValue = changed;
    }
  }
}

/** Leads to the chapter that has the anchor of a link to `/docs`. */
function followAnchor(): void {
  const anchor = location.hash.slice(1);
  if (anchor === '' || document.getElementById(anchor) !== null) return;
  const link = [...document.querySelectorAll<HTMLAnchorElement>('.contents a')].find(
    ({ hash, pathname }) => hash === `#${anchor}` || pathname.endsWith(`/docs/${anchor}`),
  );
  if (link !== undefined) location.replace(link.href);
}

followAnchor();
void fillExamples().catch(() => {}); // then they stay as they are written
for (const route of document.querySelectorAll<HTMLElement>('.route')) addTrial(route);
const builder = document.getElementById('builder');
if (builder !== null) addBuilder(builder);
enableHeader(undefined, enableFind());
enableCopyButtons();
