import { type Client, createClient, type Result, SlotgateError } from '../../client/index.ts';
import { knownMintSymbol } from '../../shared/domain/known-mints.ts';
import { MAX_NAME_CHARACTERS, quotedName } from '../../shared/domain/quoted-name.ts';
import { once } from '../../shared/runtime/once.ts';
import { enableCopyButtons } from '../browser/copy-buttons.ts';
import { create, elementById, setText } from '../browser/elements.ts';
import { gatewayUrl } from '../browser/gateway-url.ts';
import { enableHeader } from '../browser/header.ts';
import { KeyNotice } from '../browser/key-notice.ts';
import { keyMemory } from '../browser/store.ts';
import { createTrustedClient, readPublicKey, type TrustedClient } from '../browser/trusted-client.ts';
import { readHealth } from '../feed/read-health.ts';
import { whileSeen } from '../feed/while-seen.ts';
import { shorten } from '../format/figures.ts';
import { showAddress } from './address-view.ts';
import { showBlock } from './block-view.ts';
import { showEpoch } from './epoch-view.ts';
import { figures } from './figures.ts';
import { ADDRESS, SIGNATURE, SLOT } from './id-forms.ts';
import { identicon } from './identicon.ts';
import { kindWords, knownName, WALLET } from './known-names.ts';
import { LeftViews } from './left-views.ts';
import { explorerHref, identifier, linkTo, qrDetails } from './links.ts';
import { notUnderstood } from './not-understood.ts';
import { OTHER_CLIENT, Part, UNKNOWN_KEY } from './part.ts';
import { Showing } from './showing.ts';
import { showStart } from './start-view.ts';
import { enableSuggestions, remember } from './suggestions.ts';
import { chip, Title } from './title.ts';
import { showToken } from './token-view.ts';
import { showTransaction } from './transaction-view.ts';
import { contextOf, type ViewContext } from './view-context.ts';

const view = elementById('view', HTMLElement);
const input = elementById('q', HTMLInputElement);
/** What is shown: a view that was left and answers later is passed over. */
let showing = new Showing();
const leftViews = new LeftViews(view);

const queryOf = (): string => new URLSearchParams(location.search).get('q')?.trim() ?? '';

const newClient = (): (() => Promise<TrustedClient<Client>>) =>
  once(async () => {
    const { cluster, message } = await readHealth(gatewayUrl()).catch(() => {
      throw new Error('No answer from the gateway.'); // a browser's own words say less
    });
    if (cluster === undefined) throw new Error(message);
    return createTrustedClient(cluster, createClient);
  });
let openClient = newClient();

/** Puts the search into the middle of the page where there is nothing else yet, and into the header elsewhere. */
function placeSearch(isStart: boolean): void {
  const form = elementById('search', HTMLFormElement);
  document.body.classList.toggle('start', isStart);
  if (isStart) elementById('start-search', HTMLElement).append(form);
  else elementById('theme', HTMLElement).before(form);
}

function show(query: string): void {
  showing.stop();
  showing = new Showing();
  input.value = query;
  placeSearch(query === '');
  if (query === '') {
    document.title = 'slotgate: explorer';
    showFound(START, '', showStart);
    return;
  }
  if (SIGNATURE.test(query)) {
    remember(query, 'Transaction');
    showById.signature(query);
    return;
  }
  if (SLOT.test(query)) {
    showById.slot(query);
    return;
  }
  const shown = showing;
  const found = new Part('Search');
  const quoted = quotedName(query, MAX_NAME_CHARACTERS) ?? ''; // whoever made the link wrote it
  const title = new Title({ chips: [], heading: [ADDRESS.test(query) ? shorten(query) : `Search for ${quoted}`] });
  view.replaceChildren(title.element, found.element);
  title.nameTab();
  void found.load(async (read) => {
    const { client } = await read(openClient());
    const result = await read(client.get('/search', { q: query }).then(({ result }) => result, unreadable));
    if (result === undefined) found.show(...notUnderstood(query));
    else if (shown.isShown) showResult(result, query);
  });
}

/** Returns nothing for a text that can be no search; throws what else went wrong. */
function unreadable(thrown: unknown): undefined {
  if (!(thrown instanceof SlotgateError && thrown.code === 'unclassifiable')) throw thrown;
}

/** Shows what its id alone says all about. */
const showById = {
  signature: (id: string) => showFound('Transaction', id, (context) => showTransaction(context, id)),
  slot: (id: string) => showFound('Block', id, (context) => showBlock(context, id)),
  epoch: (id: string) => showFound('Epoch', id, (context) => showEpoch(context, id)),
};

/** Shows what a search has found. */
function showResult(
  { type, id, path, exists, kind, name, domain, alternatives }: Result<'/search'>,
  query: string,
): void {
  if (type === 'signature' || type === 'slot' || type === 'epoch') {
    showById[type](id);
    return;
  }
  const address = type === 'domain' ? (path.split('/').at(-1) ?? id) : id;
  const known = knownName(address) ?? name ?? quotedName(domain?.name ?? '', MAX_NAME_CHARACTERS);
  remember(address, known ?? kindWords(kind));
  showFound(kindWords(kind), address, (context) => {
    const others = alternatives.flatMap(({ id: other }, at) => [
      `${at === 0 ? '' : ','} the ${knownMintSymbol(other) === null ? 'program' : 'token'} `,
      linkTo(other, shorten(other)),
    ]);
    context.title.show({
      chips: [chip(kindWords(kind))],
      heading: [identicon(address), ' ', known === null ? shorten(address) : create('bdi', {}, known)],
      below: [
        identifier(address, 'address'),
        kind === WALLET && qrDetails(address),
        others.length > 0 &&
          create('p', { class: 'muted' }, `${quotedName(query) ?? ''} is also the name of`, ...others),
      ],
    });
    if (type === 'mint') showToken(context, address);
    else showAddress(context, address, exists ? (kind ?? 'unknown') : null);
  });
}

/** The kind of the view before a search. */
const START = 'Explorer';

/** Begins a view by its title, and fills it as soon as there is a client. */
function showFound(kind: string, id: string, fill: (context: ViewContext) => void): void {
  const shown = showing;
  const isSlot = /^\d+$/.test(id);
  const heading =
    kind === START
      ? 'What is on the cluster'
      : isSlot
        ? `${kind === 'Block' ? 'Slot' : kind} ${figures.integer(BigInt(id))}`
        : shorten(id);
  const title = new Title({ chips: kind === START ? [] : [chip(kind)], heading: [heading] });
  title.element.classList.toggle('tall', kind === 'Transaction' || kind === 'Block');
  view.replaceChildren(title.element);
  if (kind !== START) title.nameTab();
  setText(elementById('said', HTMLElement), `${kind} ${id}`);
  const opened = new Part('Gateway');
  void opened.load(async (read) => {
    const place = (): void => {
      if (shown.isShown) view.append(opened.element);
    };
    const slow = setTimeout(place, 300);
    const opening = read(openClient()).finally(() => clearTimeout(slow));
    opening.catch(place); // where it says why
    const trusted = await opening;
    opened.element.remove();
    if (shown.isShown) fill(contextOf(trusted, title, view, shown));
  });
  opened.element.addEventListener(UNKNOWN_KEY, (event) => view.dispatchEvent(new CustomEvent(event.type)));
}

let trustNewKey = (): void => {};
const notice = new KeyNotice(() => trustNewKey());

/** Lets the reader decide about a key that this browser has not seen, and shows the view again if it is accepted. */
view.addEventListener(UNKNOWN_KEY, () => {
  Promise.all([openClient(), readPublicKey()])
    .then(([{ cluster, publicKey }, named]) => {
      notice.show('unknown-key', { publicKey, unknownKey: named === publicKey ? undefined : named });
      trustNewKey = () => {
        keyMemory.remember(cluster, named); // by now the gateway may name one that its reader has not compared
        notice.show(undefined, { publicKey, unknownKey: undefined });
        showTrusted();
      };
    })
    .catch(() => {}); // the part that was refused offers another try
});

/** Shows the view again with another client: the former one trusts the former key, cluster and clock. */
function showTrusted(): void {
  openClient = newClient();
  leftViews.clear(); // what they show was proven to the former one
  show(queryOf());
}

view.addEventListener(OTHER_CLIENT, showTrusted);

/** Shows a view that is loaded again, and scrolls to where it was left as it grows, unless its reader does so first. */
function showAgain(): void {
  const top = leftViews.keptTop;
  show(queryOf());
  const watched = new ResizeObserver(() => {
    scrollTo(0, top);
    if (scrollY + 1 >= top) watched.disconnect(); // a fraction of a pixel is lost
  });
  if (top > 0) watched.observe(view);
  showing.add(() => () => watched.disconnect());
  for (const type of ['wheel', 'touchstart', 'keydown', 'pointerdown'])
    addEventListener(type, () => watched.disconnect(), { once: true });
}

function go(query: string): void {
  if (query !== queryOf()) {
    leftViews.keep(showing);
    history.pushState(null, '', explorerHref(query));
    leftViews.enter();
  }
  scrollTo(0, 0);
  show(query);
}

function comeBack(): void {
  leftViews.keep(showing);
  const left = leftViews.enter();
  if (left === undefined) {
    showAgain();
    return;
  }
  showing.stop();
  showing = left.showing;
  input.value = queryOf();
  document.title = left.title;
  setText(elementById('said', HTMLElement), left.title);
  placeSearch(queryOf() === '');
  view.replaceChildren(...left.nodes);
  if (left.focused instanceof HTMLElement) left.focused.focus({ preventScroll: true });
  scrollTo(0, left.scrollY);
  showing.start();
}

document.addEventListener('click', (event) => {
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  const target = link === null ? null : new URL(link.href, location.href);
  if (!isPlain || target?.pathname !== location.pathname) return;
  const query = target.searchParams.get('q');
  const isSkip = target.hash !== '';
  if (query === null && !isSkip) return;
  event.preventDefault(); // to skip by another entry of the history would load the view again
  if (!isSkip) go(query ?? '');
  elementById('content', HTMLElement).focus({ preventScroll: true });
});
history.scrollRestoration = 'manual';
addEventListener('popstate', comeBack);
enableHeader(go);
enableSuggestions(input, go);
enableCopyButtons();
addEventListener('pagehide', () => leftViews.keepTop());
whileSeen(
  () => showing.start(),
  () => showing.pause(),
);
showAgain();
