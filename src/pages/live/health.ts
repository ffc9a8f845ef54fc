import type { Result } from '../../client/index.ts';
import { formatSpan } from '../format/figures.ts';
import { isBehind, type LineView } from './state.ts';

/** What a healthy gateway says of itself: what pages use of it. */
export type Health = Pick<
  Result<'/health'>,
  | 'cluster'
  | 'slot'
  | 'slotAgeMs'
  | 'problems'
  | 'upstreams'
  | 'operators'
  | 'geyser'
  | 'version'
  | 'uptimeSec'
  | 'embedded'
>;

export interface HealthReport {
  /** The genesis hash; undefined before a node has named it. */
  readonly cluster: string | undefined;
  /** The newest slot; 0 before the first. */
  readonly slot: number;
  readonly slotAgeMs: number;
  readonly health: Health | undefined;
  readonly message: string;
}

/** Returns the one sentence of a page about the health of its gateway. */
export function healthSentence(report: HealthReport | undefined, view: LineView): string {
  const { state } = view;
  if (state === 'offline') return 'No answer from the gateway.';
  if (state === 'refused') return 'What the gateway sends is not proven, and is not shown.';
  const delay = `No new slot for ${formatSpan(view.slotAgeMs)}`;
  const { health, message = '' } = report ?? {};
  if (health === undefined && message !== '')
    return message.replace(/^no new slot for \d+ s/, isBehind(view) ? delay : 'Until now $&'); // its number is seconds old
  if (isBehind(view)) return `${delay}.`;
  if (health === undefined) return 'The gateway has not yet named its health.';
  const { upstreams, problems } = health;
  const bad = upstreams.filter(({ status, ws }) => status !== 'ok' || ws === 'down');
  const nodes = bad.map(({ id, status }) => `${id} is ${status === 'ok' ? 'without its WebSocket' : status}`);
  const sentence =
    bad.length === 0 ? 'All nodes answer.' : `${bad.length} of ${upstreams.length} nodes: ${nodes.join(', ')}.`;
  return [sentence, ...problems.map((problem) => problem.replace(/\.?$/, '.'))].join(' ');
}

/** Returns whose word an exact value is. */
export function agreementWords({ operators }: Pick<Health, 'operators'>): string {
  if (operators === null) return 'one operator, whose word is signed';
  const { count, needed } = operators;
  return `${needed} of ${count} operators${needed === 1 ? ', whose word is signed' : ''}`;
}
