import t from 'tap';
import { responseDifferences, shapeDifferences, shapeOf } from './json-shape.ts';
import { KNOWN_DIFFERENCES } from './known-differences.ts';
import { RECORDED_ANSWERS, RECORDED_NAMES, RECORDED_PUBSUB, type RecordedAnswer } from './recorded-conversation.ts';
import { startReplayedCluster } from './replayed-cluster.ts';

const replayed = await startReplayedCluster();
t.teardown(() => replayed.close());

/** Requests that were too long to record, by their note. */
const { alice: ALICE } = RECORDED_NAMES;
const OVERSIZED: Readonly<Record<string, { readonly method: string; readonly params: readonly unknown[] }>> = {
  '101 keys': { method: 'getMultipleAccounts', params: [Array(101).fill(ALICE)] },
  '129': { method: 'getRecentPrioritizationFees', params: [Array(129).fill(ALICE)] },
  '60 kB body': { method: 'getSlot', params: ['x'.repeat(60_000)] },
};

t.test('every recorded request over HTTP gets an answer of the same shape', async (t) => {
  const met = new Set<string>();
  for (const recorded of RECORDED_ANSWERS) {
    const key = requestKeyOf(recorded);
    const long = OVERSIZED[recorded.note];
    const request = long === undefined ? recorded.request : JSON.stringify({ jsonrpc: '2.0', id: 1, ...long });
    const contentType = recorded.note === 'text/plain' ? 'text/plain' : 'application/json';
    const answer = await replayed.post(replayed.translate(request), contentType);
    const known = KNOWN_DIFFERENCES.find((difference) => difference.request === key);
    if (known !== undefined) met.add(known.request);
    t.equal(answer.status, recorded.status, `${key}: status`);
    t.equal(answer.contentType, recorded.contentType, `${key}: content type`);
    t.strictSame(responseDifferences(recorded.response, answer.response), known?.differences ?? [], key);
  }
  t.equal(met.size, KNOWN_DIFFERENCES.length, 'each known difference belongs to a recorded request');
});

t.test('every message to pubsub gets a reply of the recorded shape', async (t) => {
  const wanted = repliesById(recordedMessages());
  const found = repliesById(replayed.received);
  t.ok(wanted.size > 20);
  for (const [id, reply] of wanted) {
    t.strictSame(responseDifferences(reply, found.get(id) ?? 'no reply'), [], `reply to ${id}`);
  }
  t.strictSame([...found.keys()].sort(), [...wanted.keys()].sort(), 'and there is no other');
});

t.test('every kind of notification has the recorded shape', async (t) => {
  const wanted = notificationsBySubscription(recordedMessages());
  const found = notificationsBySubscription(replayed.received);
  t.ok(wanted.size > 12);
  for (const [subscription, texts] of wanted) {
    const received = found.get(subscription) ?? [];
    t.strictSame(shapeDifferences(shapeOf(`[${texts}]`), shapeOf(`[${received}]`)), [], subscription);
  }
});

/** Returns a recorded request as the table of differences spells it: with names instead of addresses. */
function requestKeyOf({ request, note }: RecordedAnswer): string {
  const whole = !request.includes('…') && /^\{"jsonrpc":"2.0","id":1,"method":"(\w+)","params":(.*)\}$/.exec(request);
  if (!whole) return note;
  let params = whole[2] ?? '';
  for (const [name, here] of Object.entries(RECORDED_NAMES)) params = params.replaceAll(here, `<${name}>`);
  return `${whole[1]} ${params}`;
}

function recordedMessages(): string[] {
  return RECORDED_PUBSUB.flatMap((message) => ('in' in message ? [message.in] : []));
}

function repliesById(messages: readonly string[]): Map<string, string> {
  const replies = messages.filter((text) => !text.includes('"method"'));
  return new Map(replies.map((text) => [JSON.stringify(JSON.parse(text).id), text]));
}

/** Groups notifications by their subscribe request; those of slotsUpdates also by type. */
function notificationsBySubscription(messages: readonly string[]): Map<string, string[]> {
  const requests = new Map<number, string>();
  for (const [id, reply] of repliesById(messages)) {
    const { result } = JSON.parse(reply);
    if (typeof result === 'number') requests.set(result, `subscription ${id}`);
  }
  const found = new Map<string, string[]>();
  for (const text of messages.filter((text) => text.includes('"method"'))) {
    const { method, params } = JSON.parse(text);
    const key = `${requests.get(params.subscription)} ${method} ${params.result.type ?? ''}`.trim();
    found.set(key, [...(found.get(key) ?? []), text]);
  }
  return found;
}
