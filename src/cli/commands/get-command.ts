import type { Command } from 'commander';
import { SlotgateError } from '../../client/index.ts';
import { nearestNameHint } from '../../config/config-errors.ts';
import { API_PREFIX } from '../../shared/domain/canonical-request.ts';
import { indentJson } from '../../shared/domain/indent-json.ts';
import { StartError } from '../../shared/domain/start-error.ts';
import { visibleText } from '../../shared/domain/visible-text.ts';
import { examples } from './examples.ts';
import { type Fetched, fetchVerified, type Proof } from './fetch-verified.ts';
import {
  addGatewayOptions,
  type ChosenGateway,
  chooseGateway,
  describeTrust,
  type GatewayFlags,
  requestFailure,
} from './gateway-options.ts';
import { slot } from './receipt-option-values.ts';

interface GetFlags extends GatewayFlags {
  readonly json?: true;
  readonly nonce?: true;
  readonly minSlot?: number;
  readonly quiet?: true;
}

/** Declares `slotgate get`, which prints the result of one route: verified where the route has receipts. */
export function declareGet(get: Command): void {
  get
    .argument(
      '<what>',
      'an address, signature, slot, .sol name or ticker; a path below /api/v1 with its query; or a URL',
    )
    .option('--json', 'print the bytes of the result, as in a pipe')
    .option('--nonce', 'require a signature for this request alone')
    .option('--min-slot <slot>', 'the slot at which the answer must hold, or later', slot)
    .option('--quiet', 'print nothing but the result, and errors');
  addGatewayOptions(get)
    .addHelpText(
      'after',
      examples(
        'slotgate get vines1vzrYbzLMRdu58ou5XTby4qAqVRLmqo36NKPTg',
        'slotgate get /balance/ADDRESS --url https://GATEWAY',
        'slotgate get "/address/ADDRESS/history?limit=5" | jq .',
      ),
    )
    .action(async (what: string, flags: GetFlags, command: Command) => {
      const [url, path] = splitAtApi(what);
      const gateway = await chooseGateway(url === undefined ? flags : { ...flags, url }, command);
      const { result, slot, proof, routePath } = await fetchWhat(path, gateway, flags).catch((thrown: unknown) => {
        throw requestFailure(thrown, gateway.url);
      });
      const isForPeople = process.stdout.isTTY === true && flags.json === undefined;
      process.stdout.write(isForPeople ? await shownToPeople(routePath, result) : result);
      if (flags.quiet === true) return;
      const facts = [...(slot === undefined ? [] : [`slot ${slot}`]), proofFacts(proof, gateway)];
      process.stderr.write(`${visibleText(facts.join('  '))}\n`);
    });
}

const proofFacts = (proof: Proof | undefined, gateway: ChosenGateway): string =>
  proof === undefined
    ? 'unsigned'
    : `${proof.receipt.commitment}  ${proof.receipt.claim}  ${describeTrust(proof.publicKey, gateway)}`;

async function shownToPeople(routePath: string, result: string): Promise<string> {
  const { describeResult } = await import('../terminal/result-words.ts'); // of no use in a pipe
  return `${visibleText(describeResult(routePath, result) ?? indentJson(result))}\n`;
}

/** Fetches a route; what is none is searched for, and then the route that shows what was found. */
async function fetchWhat(text: string, gateway: ChosenGateway, flags: GetFlags): Promise<Fetched> {
  const named = await fetchRoute(text, gateway, flags);
  if (named !== undefined) return named;
  const { routes } = await import('../../gateway/routes/index.ts');
  const [pathname = ''] = pathOf(text).split('?');
  const readable = routes.filter(({ kind }) => kind !== 'post').map(({ path }) => fillNames(path, pathname));
  const hint = nearestNameHint(pathname, readable);
  const unknownPath = new StartError(64, `unknown path ${pathname}${hint || '; see slotgate get --help'}`);
  if (text === '' || text.includes('/')) throw unknownPath;
  const target = `${API_PREFIX}/search?q=${encodeURIComponent(text)}`;
  const { result } = await fetchVerified('/search', target, gateway, {}).catch((thrown: unknown) => {
    const isNothing = thrown instanceof SlotgateError && thrown.code === 'unclassifiable';
    if (!isNothing) throw thrown;
    if (hint !== '') throw unknownPath;
    const { message } = requestFailure(thrown, gateway.url);
    throw new StartError(1, message.replace(': q must be ', ': <what> must be '), thrown); // nobody has typed a q
  });
  const found = Object(JSON.parse(result));
  if (typeof found.name === 'string' && found.exists === false)
    throw new StartError(1, `${found.name} is ${found.id}, which does not exist on this cluster`);
  const shown = await fetchRoute(pathShowing(found), gateway, flags);
  if (shown === undefined)
    throw new StartError(1, 'the gateway has found it on a route that this version does not know');
  return shown;
}

/** Fetches the route of a path; undefined where no route has it. */
async function fetchRoute(text: string, gateway: ChosenGateway, flags: GetFlags): Promise<Fetched | undefined> {
  const { matchRoute } = await import('../../gateway/routes/index.ts'); // most commands do without them
  const path = pathOf(text);
  const [pathname = ''] = path.split('?');
  const route = matchRoute(API_PREFIX + pathname)?.route;
  if (route?.kind === 'post') throw new StartError(64, `${route.path} accepts POST, which get does not send`);
  return route && fetchVerified(route.path, API_PREFIX + path, gateway, flags);
}

const pathOf = (text: string): string => text.replace(/^\/?(api\/v1\/)?/, '/');

/** Returns the path of the route that says most about what a search has found. */
function pathShowing({ type, id, path }: Readonly<Partial<Record<'type' | 'id' | 'path', unknown>>>): string {
  if (type === 'signature') return `/tx/${id}?enhanced=1`;
  return type === 'address' || type === 'domain' ? `/address/${id}/portfolio` : String(path);
}

/** Returns the gateway of a URL and the path of a route with its query, from a slash on; of other texts only these. */
function splitAtApi(text: string): readonly [gateway: string | undefined, path: string] {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return [undefined, text];
  const at = text.indexOf(API_PREFIX);
  if (at >= 0) return [text.slice(0, at), text.slice(at)];
  const { origin, pathname, search } = new URL(text);
  return [origin, pathname + search];
}

/** Puts the texts of a path where a declared path has names, so that they don't count as a difference. */
function fillNames(declared: string, path: string): string {
  const texts = path.split('/');
  return declared
    .split('/')
    .map((part, at) => (part.startsWith(':') ? texts[at] || part : part))
    .join('/');
}
