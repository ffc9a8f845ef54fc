import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { parseNetworkSnapshot, STALLED_MS } from '../../../shared/domain/network-snapshot.ts';
import { isHealthy, unhealthyReason } from '../../routes/health.ts';
import type { RouteContext } from '../../routes/routing/route.ts';

const FIELDS = ['slot', 'tps', 'health'] as const;
type Field = (typeof FIELDS)[number];

/** White text on each of them has a contrast above 4.5. */
const COLORS = { good: '#1a7f37', warn: '#8a5a00', bad: '#b3202c', unknown: '#57606a' } as const;

interface Value {
  readonly text: string;
  readonly color: keyof typeof COLORS;
}

/** Draws a value as a picture of 20 px for READMEs, which run no script. Throws `invalid_query` for another field. */
export function drawBadge(query: string, context: RouteContext): string {
  const wanted = new URLSearchParams(query).get('field') ?? 'slot';
  const field = FIELDS.find((known) => known === wanted);
  if (field === undefined) throw new GatewayError('invalid_query', `field must be one of ${FIELDS.join(', ')}`);
  return drawingOf(LABELS[field], shownOf(field, context));
}

const LABELS: Readonly<Record<Field, string>> = { slot: 'Solana slot', tps: 'Solana TPS', health: 'Solana' };

function shownOf(field: Field, context: RouteContext): Value {
  const { cache } = context;
  const entry = cache.peek('/api/v1/network');
  if (entry?.kind !== 'answer') return { text: 'no data', color: 'unknown' };
  const { nonVoteTps, slot } = parseNetworkSnapshot(entry.result.toString());
  const isStalled = cache.tipAgeMs > STALLED_MS || unhealthyReason(context) !== undefined;
  const color = isStalled ? 'bad' : isHealthy(context) ? 'good' : 'warn';
  if (field === 'slot') return { text: slot.toLocaleString('en'), color };
  if (field === 'health') return { text: isStalled ? 'stalled' : color === 'good' ? 'live' : 'degraded', color };
  return isStalled || nonVoteTps === null
    ? { text: 'no data', color: 'unknown' }
    : { text: Math.round(nonVoteTps).toLocaleString('en'), color };
}

/** Widths of characters in CSS pixels, in Verdana of 11 px; `textLength` fits a font that has others. */
const [NARROW_PX, USUAL_PX, WIDE_PX] = [3.9, 6.5, 7.2];
const PADDING_PX = 6;
const LOGO_PX = 15;

function drawingOf(label: string, { text, color }: Value): string {
  const pxOf = (character: string): number =>
    /[ijlt,. ]/.test(character) ? NARROW_PX : /[A-Z\d]/.test(character) ? WIDE_PX : USUAL_PX;
  const widthOf = (shown: string): number => Math.round([...shown].reduce((sum, each) => sum + pxOf(each), 0));
  const left = LOGO_PX + widthOf(label) + 2 * PADDING_PX;
  const right = widthOf(text) + 2 * PADDING_PX;
  const textAt = (x: number, shown: string): string =>
    `<text x="${x}" y="14" textLength="${widthOf(shown)}">${shown}</text>`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${label}: ${text}">` +
    `<title>${label}: ${text}</title><clipPath id="r"><rect width="${left + right}" height="20" rx="3"/></clipPath>` +
    `<g clip-path="url(#r)"><path fill="#24292f" d="M0 0h${left}v20H0z"/><path fill="${COLORS[color]}" d="M${left} 0h${right}v20H${left}z"/></g>` +
    `<path fill="#4fd1bd" d="M6 5h3v10H6zM10.5 7h3v8h-3zM15 5h3v10h-3z"/>` +
    `<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">` +
    `${textAt(LOGO_PX + PADDING_PX, label)}${textAt(left + PADDING_PX, text)}</g></svg>`
  );
}
