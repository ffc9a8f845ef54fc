import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { API_PREFIX } from '../../../shared/domain/canonical-request.ts';
import { BADGE_PATH, MISSING_PAGE, type SiteFile } from '../../../shared/site/site.ts';
import type { QuotaFigures } from '../../access/quota/quota-window.ts';
import type { RouteContext } from '../../routes/routing/route.ts';
import type { EngineRequest } from '../engine/engine.ts';
import type { RawBody, RawResponse } from '../engine/raw-response.ts';
import { drawBadge } from './badge.ts';
import { negotiateCoding, weightsIn } from './content-coding.ts';
import type { SitePaths } from './path-kinds.ts';
import { formatHeaders, type Header, matchesEtag, weakEtag } from './response-headers.ts';
import { type Conditions, type Payer, rootOf } from './responses.ts';

const isPage = ({ contentType }: SiteFile): boolean => contentType.startsWith('text/html');

/** Answers with a file of the site: as it was built, or with what depends on the request or on the network. */
export function siteResponse(
  payer: Payer,
  file: SiteFile,
  req: EngineRequest,
  conditions: Conditions,
  context: RouteContext,
): RawResponse | Promise<RawResponse> {
  const send = (body: RawBody, extra: readonly Header[] = []): RawResponse => ({
    headers: formatHeaders(200, payer.charge(0), [...file.headers, ...extra], file.contentType, !isPage(file)).text,
    body,
  });
  if (req.getUrl() === BADGE_PATH) return send(drawBadge(req.getQuery() ?? '', context));
  if (file.isTemplate) return send(filled(file, baseOf(req) ?? '/'));
  const isForProgram = req.getHeader('sec-fetch-mode') === '' && req.getHeader('upgrade-insecure-requests') === '';
  const base = isPage(file) && isForProgram ? baseOf(req) : undefined;
  return base === undefined
    ? fileResponse(payer, file, conditions)
    : previewResponse(send, file, { base, subject: subjectIn(req) }, conditions);
}

/** Returns the response to a path that does not exist, for people; undefined for programs. */
export function missingPage(req: EngineRequest, site: SitePaths): ((quota: QuotaFigures) => RawResponse) | undefined {
  const [page, path] = [site.get(MISSING_PAGE), req.getUrl()];
  const isForPeople = req.getHeader('accept').includes('text/html') && !path.startsWith(API_PREFIX);
  if (page === undefined || !isForPeople) return undefined;
  const body = filled(page, rootOf(path) ?? '/');
  return (quota) => ({ headers: formatHeaders(404, quota, page.headers, page.contentType, false).text, body });
}

const filled = ({ identity }: SiteFile, base: string): string => identity.toString().replaceAll('{{base}}', base);

/** Returns the gateway's URL as the request names it, without a prefix that a proxy may have removed. */
function baseOf(req: EngineRequest): string | undefined {
  const host = req.getHeader('host');
  const scheme = req.getHeader('x-forwarded-proto') === 'https' ? 'https' : 'http';
  return /^[\w.:[\]-]+$/.test(host) ? `${scheme}://${host}/` : undefined;
}

/** What link previews need of a page: the URL of its picture is below `base`. */
interface Preview {
  readonly base: string;
  /** Of the explorer what it shows, undefined for nothing. */
  readonly subject: string | undefined;
}

const subjectIn = (req: EngineRequest): string | undefined =>
  req.getUrl() === '/explorer' ? subjectOf(new URLSearchParams(req.getQuery()).get('q') ?? '') : undefined;

/**
 * Writes what link previews need into a page: the whole URL of its picture, and of the explorer the subject. The programs
 * that make previews run no script, and send neither `Sec-Fetch-Mode`, as browsers do over TLS and to this machine, nor
 * `Upgrade-Insecure-Requests`, as they do elsewhere.
 */
function previewOf({ identity }: SiteFile, { base, subject }: Preview): Buffer {
  const headEnd = identity.indexOf('</head>'); // the rest of a long page is not decoded
  const text = identity
    .toString('utf8', 0, headEnd)
    .replace(/(<meta property="og:image" content=")[^"]*/, `$1${base}card.png`);
  const head =
    subject === undefined
      ? text
      : text
          .replace(/<title>[^<]*/, `<title>${subject} · slotgate`)
          .replace(/(<meta property="og:title" content=")[^"]*/, `$1${subject}`);
  return Buffer.concat([Buffer.from(head), identity.subarray(headEnd)]);
}

/** Names the subject of a search by the form of its text alone. */
function subjectOf(text: string): string | undefined {
  const short = `${text.slice(0, 4)}…${text.slice(-4)}`;
  if (/^\d{1,15}$/.test(text)) return `Solana slot ${Number(text).toLocaleString('en')}`;
  if (/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text)) return `Solana address ${short}`;
  return /^[1-9A-HJ-NP-Za-km-z]{86,88}$/.test(text) ? `Solana transaction ${short}` : undefined;
}

const compress = promisify(gzip);
const FAST = { level: 3 };

/** Previews by coding and what is in them: probes and crawlers fetch the same ones all the time. At most 170 KB each. */
const previews = new LRUCache<string, Buffer | Promise<Buffer>>({ max: 32 });

async function previewResponse(
  send: (body: RawBody, extra?: readonly Header[]) => RawResponse,
  file: SiteFile,
  preview: Preview,
  { accept }: Conditions,
): Promise<RawResponse> {
  const isCompressed = weightsIn(accept)('gzip') !== 0;
  const key = `${isCompressed} ${file.etag} ${preview.base} ${preview.subject}`;
  const body =
    previews.get(key) ?? (isCompressed ? compress(previewOf(file, preview), FAST) : previewOf(file, preview));
  previews.set(key, body);
  return send(await body, isCompressed ? [['Content-Encoding', 'gzip']] : []);
}

function fileResponse(payer: Payer, file: SiteFile, { accept, ifNoneMatch }: Conditions): RawResponse {
  const { contentType, etag } = file;
  const extraHeaders: Header[] = [...file.headers, ['ETag', weakEtag(etag)]];
  const headersOf = (status: number): string =>
    formatHeaders(status, payer.charge(0), extraHeaders, contentType, !isPage(file)).text;
  if (matchesEtag(ifNoneMatch, etag)) return { headers: headersOf(304), body: null };
  const coding = negotiateCoding(accept);
  if (coding !== 'identity') extraHeaders.push(['Content-Encoding', coding]);
  return { headers: headersOf(200), body: file[coding] };
}
