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
import type { Config } from '../../config/config-schema.ts';
import { API_PREFIX } from '../../shared/domain/canonical-request.ts';
import type { Envelope } from '../../shared/domain/envelope.ts';
import { indentJson } from '../../shared/domain/indent-json.ts';
import { StartError } from '../../shared/domain/start-error.ts';
import { systemClock } from '../../shared/runtime/system-clock.ts';
import { terminalText } from '../terminal/terminal-text.ts';
import {
  addGatewayOptions,
  describeTrust,
  type GatewayFlags,
  gatewayUrlOf,
  requestFailure,
} from './gateway-options.ts';
import { slot } from './receipt-option-values.ts';

interface GetFlags extends GatewayFlags {
  readonly nonce?: true;
  readonly minSlot?: number;
  readonly quiet?: true;
}

interface Fetched {
  readonly result: string;
  readonly facts: string;
}

/** Adds `slotgate get`, which prints the verified result of one route, and nothing that is not proven. */
export function addGetCommand(program: Command, configOf: (command: Command) => Config): void {
  const get = program
    .command('get')
    .description('read a route of a gateway and verify the answer: /balance/ADDRESS')
    .argument('<path>', 'the path below /api/v1, with its query, or a whole URL');
  addGatewayOptions(get)
    .option('--nonce', 'require a signature for this request alone')
    .option('--min-slot <slot>', 'the slot at which the answer must hold, or later', slot)
    .option('--quiet', 'print nothing but the result, and errors')
    .action(async (path: string, flags: GetFlags, command: Command) => {
      const request = await parseRequest(path, flags, () => configOf(command));
      const { result, facts } = await fetchVerified(request, flags).catch((thrown: unknown) => {
        throw requestFailure(thrown, request.url);
      });
      const isTerminal = process.stdout.isTTY === true;
      process.stdout.write(isTerminal ? `${terminalText(indentJson(result))}\n` : result);
      if (flags.quiet !== true) process.stderr.write(`${terminalText(facts)}\n`);
    });
}

interface GetRequest {
  readonly url: string;
  /** The path of the route as it is declared. */
  readonly routePath: string;
  /** Path and query, from `/api/v1` on. */
  readonly target: string;
}

async function parseRequest(text: string, flags: GetFlags, configOf: () => Config): Promise<GetRequest> {
  const isUrl = /^https?:\/\//.test(text) && URL.canParse(text);
  const [prefix = '', rest = ''] = isUrl ? splitAtApi(text) : ['', text];
  const path = rest.replace(/^\/?(api\/v1\/)?/, '/');
  const url = gatewayUrlOf(isUrl ? { ...flags, url: prefix } : flags, configOf);
  const { matchRoute, routes } = await import('../../gateway/routes/index.ts'); // most commands do without them
  const [pathname = ''] = path.split('?');
  const route = matchRoute(API_PREFIX + pathname)?.route;
  if (route === undefined) {
    const readable = routes.filter(({ kind }) => kind !== 'post').map(({ path }) => fillNames(path, pathname));
    throw new StartError(64, `unknown path ${terminalText(pathname)}${nearestNameHint(pathname, readable)}`);
  }
  if (route.kind === 'post') throw new StartError(64, `${route.path} accepts POST, which get does not send`);
  return { url, routePath: route.path, target: API_PREFIX + path };
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

async function fetchVerified({ url, routePath, target }: GetRequest, flags: GetFlags): Promise<Fetched> {
  const clock = systemClock;
  const send = createRequestSender({
    baseUrl: baseUrlOf(url),
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
  if (envelope !== undefined) return unsignedResult(new TextDecoder().decode(body), envelope);
  const trustStore = new TrustStore({ send, clock, publicKeys: flags.publicKey ?? [], cluster: flags.cluster });
  const verify = createAnswerVerifier({ trustStore, clock, maxAgeMs: 60_000 });
  const isFinal = finalityCheck(routePath);
  const verified = await verify(body, { request: `GET ${target}`, nonce, minSlot: flags.minSlot, isFinal });
  const { commitment, claim, kid } = verified.receipt;
  const { publicKeys } = await trustStore.anchors();
  return {
    result: resultTextIn(verified.body, verified.slot) ?? '', // it was just verified in this form
    facts: `slot ${verified.slot}  ${commitment}  ${claim}  ${describeTrust(keyWithId(kid, publicKeys), flags)}`,
  };
}

const keyWithId = (kid: string, publicKeys: readonly string[]): string =>
  publicKeys.find((key) => parseTrustedKey(key).kid === kid) ?? kid;

function unsignedResult(body: string, envelope: Envelope): Fetched {
  const slot = envelope === 'anchored' ? /,"slot":(\d+)\}$/.exec(body) : null;
  const end = envelope === 'plain' ? body.length : slot === null ? -1 : slot.index;
  const result = envelope === 'plain' ? body : body.slice('{"result":'.length, end);
  return { result, facts: slot === null ? 'unsigned' : `slot ${slot[1]}  unsigned` };
}
