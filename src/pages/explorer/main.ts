import { MAX_NAME_CHARACTERS, quotedName } from '../../shared/domain/quoted-name.ts';
import { TOKEN_PROGRAM, VOTE_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import { enableCopyButtons } from '../browser/copy-buttons.ts';
import { create, elementById, setText } from '../browser/elements.ts';
import { gatewayUrl } from '../browser/gateway-url.ts';
import { enableHeader } from '../browser/header.ts';
import { createTrustedClient, type TrustedClient } from '../browser/trusted-client.ts';
import { readHealth } from '../feed/read-health.ts';
import { showAddress } from './address-view.ts';
import { showBlock } from './block-view.ts';
import { explorerHref, identifier, linkTo } from './links.ts';
import { Part, type ViewContext } from './part.ts';
import { showToken } from './token-view.ts';
import { showTransaction } from './transaction-view.ts';

const view = elementById('view', HTMLElement);
const input = elementById('q', HTMLInputElement);
let opening: Promise<TrustedClient> | undefined;
const leave: (() => void)[] = [];
/** The number of the search that is shown: an earlier one that answers later is passed over. */
let search = 0;

const KINDS = {
  address: 'Address',
  domain: 'Address',
  mint: 'Token',
  signature: 'Transaction',
  slot: 'Block',
  epoch: 'Epoch',
} as const;

/** Returns the client, and tries again after a failure. */
function openClient(): Promise<TrustedClient> {
  opening ??= readHealth(gatewayUrl())
    .then(({ cluster, message }) => {
      if (cluster === undefined) throw new Error(message);
      return createTrustedClient(cluster);
    })
    .catch((thrown: unknown) => {
      opening = undefined;
      throw thrown;
    });
  return opening;
}

async function show(query: string): Promise<void> {
  search++;
  const shown = search;
  for (const work of leave.splice(0)) work();
  input.value = query;
  const quoted = quotedName(query, MAX_NAME_CHARACTERS) ?? ''; // whoever made the link wrote it
  document.title = `slotgate: ${quoted || 'explorer'}`;
  view.replaceChildren();
  if (query === '') return showStart();
  const found = new Part('Search');
  view.append(create('h1', { class: 'hidden' }, `Search for ${quoted}`), found.element);
  await found.load(async (read) => {
    try {
      const { client } = await read(openClient());
      const answer = await read(client.get('/search', { q: query }));
      if (shown !== search) return;
      const { type, id, exists, kind, name, domain, alternatives } = answer.result;
      const title = create(
        'div',
        { class: 'title' },
        create('h1', {}, KINDS[type]),
        kind !== null && create('span', { class: 'chip' }, kind),
      );
      const known = name ?? quotedName(domain?.name ?? '', MAX_NAME_CHARACTERS);
      title.append(known ? create('strong', {}, create('bdi', {}, known)) : '', identifier(id));
      for (const other of alternatives) title.append('also ', linkTo(other.id));
      view.replaceChildren(title);
      setText(elementById('said', HTMLElement), `${KINDS[type]} ${known ?? id}`);
      if (!exists) view.append(create('p', { class: 'panel' }, notThere(type)));
      showType(type, { id, path: answer.result.path, exists }, contextOf(client));
    } catch (thrown) {
      if (shown !== search) return;
      view.append(examples());
      throw thrown;
    }
  });
}

const notThere = (type: keyof typeof KINDS): string =>
  type === 'address' || type === 'domain'
    ? 'Nothing is at this address yet: it may be new, or receive its first lamports any time.'
    : 'The cluster does not have it: it may be too new, or older than what the nodes keep.';

/** The longest time for which a part waits for those above it. */
const REVEAL_MS = 4000;

function contextOf(client: TrustedClient['client']): ViewContext {
  let above: Promise<unknown> = Promise.resolve();
  return {
    client,
    /** Adds parts to the view as soon as those above have their height, so that nothing that is read moves. */
    add(...parts) {
      const elements = parts.map(({ element }) => element);
      const shown = search;
      const block = elements.length === 1 ? (elements[0] ?? '') : create('div', { class: 'grid' }, ...elements);
      const placed = above.then(() => {
        if (shown === search) view.append(block);
      });
      const limit = new Promise((resolve) => setTimeout(resolve, REVEAL_MS));
      above = placed.then(() => Promise.race([limit, Promise.all(parts.map(({ settled }) => settled))]));
    },
    onLeave: (work) => leave.push(work),
  };
}

function showType(
  type: keyof typeof KINDS,
  { id, path, exists }: { readonly id: string; readonly path: string; readonly exists: boolean },
  context: ViewContext,
): void {
  const show = {
    address: () => showAddress(context, id),
    domain: () => showAddress(context, path.split('/').at(-1) ?? id),
    mint: () => showToken(context, id),
    signature: () => exists && showTransaction(context, id),
    slot: () => exists && showBlock(context, id),
    epoch: () => showEpoch(context, path),
  };
  show[type]();
}

/** Shows an epoch by its first block, or the current one by its progress. */
function showEpoch(context: ViewContext, path: string): void {
  const slot = /\/block\/(\d+)$/.exec(path)?.[1];
  if (slot !== undefined) {
    showBlock(context, slot);
    return;
  }
  const part = new Part('Epoch');
  context.add(part);
  const request = () => context.client.get('/epoch');
  part.loadAnswer(request, ({ epoch, epochProgress, absoluteSlot }) => {
    const share = `Epoch ${epoch}, ${(epochProgress * 100).toFixed(1)} % over, at slot `;
    return [create('p', {}, share, linkTo(String(absoluteSlot), String(absoluteSlot)))];
  });
}

function showStart(): void {
  view.append(
    create('h1', {}, 'Explorer'),
    create(
      'p',
      {},
      'Paste an address, a mint, a signature, a slot, an epoch, a .sol name, or the URL of another explorer. Each answer is signed by the gateway, and verified here before it is shown.',
    ),
    examples(),
  );
}

/** Returns links that lead somewhere on any cluster. */
function examples(): HTMLElement {
  const list = create('ul', { class: 'examples', 'aria-label': 'Examples' });
  const addExample = (query: string, text: string): void => list.append(create('li', {}, linkTo(query, text)));
  addExample('So11111111111111111111111111111111111111112', 'Wrapped SOL');
  addExample(TOKEN_PROGRAM, 'Token program');
  addExample(VOTE_PROGRAM, 'Vote program');
  void openClient()
    .then(({ client }) => findRecentBlock(client))
    .then((slot) => slot !== undefined && addExample(String(slot), 'A recent block'))
    .catch(() => undefined); // the other examples are enough
  return create('div', {}, create('h2', {}, 'Try one of these'), list);
}

/** The slots that are tried for a recent block: the newest may have none yet, and about one in twenty is skipped. */
const SLOTS_BACK = [8, 9, 10, 11];

async function findRecentBlock(client: TrustedClient['client']): Promise<number | undefined> {
  const { result: newest } = await client.get('/slot');
  for (const back of SLOTS_BACK) {
    const slot = newest - back;
    if ((await client.get('/search', { q: String(slot) })).result.exists) return slot;
  }
  return undefined;
}

const queryOf = (): string => new URLSearchParams(location.search).get('q')?.trim() ?? '';

function go(query: string): void {
  if (query !== queryOf()) history.pushState(null, '', explorerHref(query));
  scrollTo(0, 0);
  void show(query);
}

document.addEventListener('click', (event) => {
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  const target = link === null ? null : new URL(link.href, location.href);
  if (!isPlain || target === null || target.pathname !== location.pathname || !target.searchParams.has('q')) return;
  event.preventDefault();
  go(target.searchParams.get('q') ?? '');
  elementById('content', HTMLElement).focus({ preventScroll: true });
});
addEventListener('popstate', () => void show(queryOf()));
enableHeader(go);
enableCopyButtons();
void show(queryOf());
