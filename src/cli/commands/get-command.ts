import type { Command } from 'commander';
import {
  baseUrlOf,
  createAnswerVerifier,
  createRequestSender,
  finalityCheck,
  newNonce,
  TrustStore,
  unsignedEnvelope,
} from '../../client/index.ts';
import { parseTrustedKey, resultTextIn } from '../../client/verify/index.ts';
import { nearestNameHint } from '../../config/config-errors.ts';
import { API_PREFIX } from '../../shared/domain/canonical-request.ts';
import type { Envelope } from '../../shared/domain/envelope.ts';
import { indentJson } from '../../shared/domain/indent-json.ts';
import { StartError } from '../../shared/domain/start-error.ts';
import { systemClock } from '../../shared/runtime/system-clock.ts';
import { terminalText } from '../terminal/terminal-text.ts';
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

interface Fetched {
  /** The path of the route as it is declared. */
  readonly routePath: string;
  readonly result: string;
  readonly facts: string;
}

/** Declares `slotgate get`, which prints the verified result of one route, and nothing that is not proven. */
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
      '\nExamples:\n  slotgate get vines1vzrYbzLMRdu58ou5XTby4qAqVRLmqo36NKPTg\n  slotgate get /balance/ADDRESS --url https://GATEWAY\n  slotgate get "/address/ADDRESS/history?limit=5" | jq .',
    )
    .action(async (what: string, flags: GetFlags, command: Command) => {
      const { gateway, path } = await parseWhat(what, flags, command);
      const { result, facts, routePath } = await fetchWhat(path, gateway, flags).catch((thrown: unknown) => {
        throw requestFailure(thrown, gateway.url);
      });
      const isForPeople = process.stdout.isTTY === true && flags.json === undefined;
      process.stdout.write(isForPeople ? await shownToPeople(routePath, result) : result);
      if (flags.quiet !== true) process.stderr.write(`${terminalText(facts)}\n`);
    });
}

async function shownToPeople(routePath: string, result: string): Promise<string> {
  const { describeResult } = await import('../terminal/result-words.ts'); // of no use in a pipe
  return `${terminalText(describeResult(routePath, result) ?? indentJson(result))}\n`;
}

interface What {
  readonly gateway: ChosenGateway;
  /** The path of a route with its query, from a slash on; or a text to search for. */
  readonly path: string;
}

async function parseWhat(text: string, flags: GetFlags, command: Command): Promise<What> {
  const isUrl = /^https?:\/\//.test(text) && URL.canParse(text);
  const [prefix = '', rest = ''] = isUrl ? splitAtApi(text) : ['', text];
  const gateway = await chooseGateway(isUrl ? { ...flags, url: prefix } : flags, command);
  return { gateway, path: rest };
}

/** Fetches a route; what is none is searched for, and then the route that shows what was found. */
async function fetchWhat(text: string, gateway: ChosenGateway, flags: GetFlags): Promise<Fetched> {
  const { matchRoute, routes } = await import('../../gateway/routes/index.ts'); // most commands do without them
  const path = text.replace(/^\/?(api\/v1\/)?/, '/');
  const [pathname = ''] = path.split('?');
  const route = matchRoute(API_PREFIX + pathname)?.route;
  if (route?.kind === 'post') throw new StartError(64, `${route.path} accepts POST, which get does not send`);
  if (route !== undefined) return fetchVerified(route.path, API_PREFIX + path, gateway, flags);
  const readable = routes.filter(({ kind }) => kind !== 'post').map(({ path }) => fillNames(path, pathname));
  const hint = nearestNameHint(pathname, readable);
  if (text.includes('/') || hint !== '') throw new StartError(64, `unknown path ${terminalText(pathname)}${hint}`);
  const target = `${API_PREFIX}/search?q=${encodeURIComponent(text)}`;
  const found = JSON.parse((await fetchVerified('/search', target, gateway, {})).result);
  return fetchWhat(pathShowing(found), gateway, flags);
}

/** Returns the path of the route that says most about what a search has found. */
function pathShowing({
  type,
  id,
  path,
}: {
  readonly type: string;
  readonly id: string;
  readonly path: string;
}): string {
  if (type === 'signature') return `/tx/${id}?enhanced=1`;
  return type === 'address' || type === 'domain' ? `/address/${id}/portfolio` : path;
}

const splitAtApi = (url: string): readonly string[] => {
  const at = url.indexOf(API_PREFIX);
  return at < 0
    ? [new URL(url).origin, new URL(url).pathname + new URL(url).search]
    : [url.slice(0, at), url.slice(at)];
};

/** Puts the texts of a path where a declared path has names, so that they don't count as a difference. */
function fillNames(declared: string, path: string): string {
  const texts = path.split('/');
  return declared
    .split('/')
    .map((part, at) => (part.startsWith(':') ? (texts[at] ?? part) : part))
    .join('/');
}

async function fetchVerified(
  routePath: string,
  target: string,
  gateway: ChosenGateway,
  flags: Pick<GetFlags, 'nonce' | 'minSlot'>,
): Promise<Fetched> {
  const clock = systemClock;
  const send = createRequestSender({
    baseUrl: baseUrlOf(gateway.url),
    headers: {},
    timeoutMs: 10_000,
    attempts: 3,
    maxBodyBytes: 64 * 1024 * 1024,
    fetch,
    clock,
    random: Math.random,
  });
  const nonce = flags.nonce === true ? newNonce() : null;
  const headers = {
    ...(nonce !== null && { 'x-receipt-nonce': nonce }),
    ...(flags.minSlot !== undefined && { 'x-min-slot': String(flags.minSlot) }),
  };
  const { body } = await send({ target, headers }, {});
  const envelope = unsignedEnvelope(routePath);
  if (envelope !== undefined) return { routePath, ...unsignedResult(new TextDecoder().decode(body), envelope) };
  const trustStore = new TrustStore({ send, clock, publicKeys: gateway.publicKey ?? [], cluster: gateway.cluster });
  const verify = createAnswerVerifier({ trustStore, clock, maxAgeMs: 60_000 });
  const isFinal = finalityCheck(routePath);
  const verified = await verify(body, { request: `GET ${target}`, nonce, minSlot: flags.minSlot, isFinal });
  const { commitment, claim, kid } = verified.receipt;
  const { publicKeys } = await trustStore.anchors();
  return {
    routePath,
    result: resultTextIn(verified.body, verified.slot) ?? '', // it was just verified in this form
    facts: `slot ${verified.slot}  ${commitment}  ${claim}  ${describeTrust(keyWithId(kid, publicKeys), gateway)}`,
  };
}

const keyWithId = (kid: string, publicKeys: readonly string[]): string =>
  publicKeys.find((key) => parseTrustedKey(key).kid === kid) ?? kid;

function unsignedResult(body: string, envelope: Envelope): Pick<Fetched, 'result' | 'facts'> {
  const slot = envelope === 'anchored' ? /,"slot":(\d+)\}$/.exec(body) : null;
  const end = envelope === 'plain' ? body.length : slot === null ? -1 : slot.index;
  const result = envelope === 'plain' ? body : body.slice('{"result":'.length, end);
  return { result, facts: slot === null ? 'unsigned' : `slot ${slot[1]}  unsigned` };
}
