import { formatPushFrame } from '../../../client/verify/index.ts';
import { parseTarget } from '../../../shared/domain/canonical-request.ts';
import type { Clock } from '../../../shared/domain/clock.ts';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import { type EventId, formatEventId, parseEventId } from '../../../shared/domain/event-id.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { address } from '../../routes/routing/params.ts';
import type { RouteContext } from '../../routes/routing/route.ts';
import { isTopicName, TOPIC_NAMES } from '../../routes/stream-topics.ts';
import type { RawResponse, ResponseParts, StreamedResponse } from '../engine/raw-response.ts';
import { requestTargetOf } from '../engine/request-guard.ts';
import type { ChannelTopics, EventChannels, EventSubscriber, Membership } from '../events/event-channels.ts';
import type { SealedEvent } from '../events/event-sealer.ts';
import type { CheckedRequest } from '../rest/guarded-request.ts';
import { nonceNotApplicable } from '../rest/receipt-nonce.ts';
import { formatHeaders, type Header } from '../rest/response-headers.ts';
import { CLOSE_CODES, type CloseCounts, OpenSockets } from './open-sockets.ts';
import { StreamCaller, type StreamCallerAccess } from './stream-caller.ts';

export interface EventStreamsOptions {
  readonly channels: EventChannels;
  readonly access: StreamCallerAccess;
  readonly clock: Clock;
  readonly context: Pick<RouteContext, 'isDraining'>;
  readonly closes: CloseCounts;
}

/** This header keeps nginx from collecting the parts; other proxies and browsers must store nothing. */
const HEADERS: readonly Header[] = [
  ['Cache-Control', 'no-store, no-transform'],
  ['X-Accel-Buffering', 'no'],
];
/** Lets a browser reconnect after a second. */
const OPENING = 'retry: 1000\n\n';

/** Serves the events of accounts as Server-Sent Events, which resume by `Last-Event-ID`. */
export class EventStreams {
  readonly #options: EventStreamsOptions;
  readonly #streams: OpenSockets<EventStream>;

  constructor(options: EventStreamsOptions) {
    this.#options = options;
    this.#streams = new OpenSockets({
      ...options,
      subscriptionsOf: ({ topicCount }) => topicCount,
      endSlow: (stream) => stream.end(CLOSE_CODES.slowConsumer, 'too slow: events waited for three seconds'),
    });
  }

  /** The open streams. */
  get size(): number {
    return this.#streams.size;
  }

  /** Answers a request for a stream of events. Throws a GatewayError. */
  respond({ req, address: peer, account, guarded }: CheckedRequest): RawResponse | StreamedResponse {
    const { access, channels, context } = this.#options;
    const { query } = parseTarget(requestTargetOf(req));
    if (!query.some(([name]) => name === 'topics')) throw upgradeRequired();
    if (req.getHeader('x-receipt-nonce') !== '') throw nonceNotApplicable();
    const { since, ...about } = parseEventQuery(query, req.getHeader('last-event-id'));
    if (context.isDraining()) throw new GatewayError('shutting_down', 'the gateway is shutting down');
    if (req.getMethod() === 'head') return { headers: headersOf(guarded), body: null };
    const caller = acceptCaller(access, peer, account);
    const stream = new EventStream(caller, about, this.#streams);
    try {
      if (about.topics.length > caller.maxSubscriptions)
        throw new GatewayError('invalid_request', `a stream may have ${caller.maxSubscriptions} topics`);
      account.reserve(about.topics.length);
      stream.membership = channels.join(about, since, stream);
    } catch (thrown) {
      caller.streamSlot.release();
      throw thrown;
    }
    return {
      headers: headersOf(guarded),
      begin: (startParts) => {
        this.#streams.add(stream);
        stream.parts = startParts(
          () => stream.onRoom(),
          () => this.#onClosed(stream),
        );
        stream.parts.write(OPENING);
      },
    };
  }

  close(): void {
    this.#streams.close();
  }

  #onClosed(stream: EventStream): void {
    this.#streams.remove(stream, stream.endCode);
    stream.membership?.leave();
  }
}

function acceptCaller(access: StreamCallerAccess, peer: ArrayBuffer, account: CheckedRequest['account']): StreamCaller {
  try {
    return new StreamCaller(access, '/stream', peer, account.principal);
  } catch (thrown) {
    account.refusal = { ...account.settle(0, true) }; // at no charge: the quota in the headers is what the caller has
    throw thrown;
  }
}

const headersOf = (guarded: CheckedRequest['guarded']): string =>
  formatHeaders(200, guarded.charge(0), HEADERS, 'text/event-stream').text;

/** A stream of events to one reader. */
class EventStream implements EventSubscriber {
  readonly topicCount: number;
  /** The code with which it was ended; that of a client that leaves without one. */
  endCode = 1005;
  parts: ResponseParts | undefined;
  membership: Membership | undefined;
  readonly #caller: StreamCaller;
  readonly #streams: OpenSockets<EventStream>;
  #hasRoom = true;

  constructor(caller: StreamCaller, { topics }: ChannelTopics, streams: OpenSockets<EventStream>) {
    this.#caller = caller;
    this.topicCount = topics.length;
    this.#streams = streams;
  }

  get callerName(): string {
    return this.#caller.name;
  }

  getUserData(): { readonly caller: StreamCaller } {
    return { caller: this.#caller };
  }

  deliver(events: readonly SealedEvent[], end: EventId, isMark: boolean): EventId | undefined {
    if (!this.#hasRoom || this.parts === undefined) {
      this.#streams.recordDrop(this);
      return undefined;
    }
    // States have no id of their own: a reader that has not received all of them begins again.
    const hasStates = events.some(({ event }) => event.before === null);
    const text = events.map(eventText).join('') + (isMark || hasStates ? markText(end) : '');
    if (text !== '') this.#hasRoom = this.parts.write(text);
    return end;
  }

  onRoom(): void {
    this.#hasRoom = true;
    this.#streams.recordDrain(this);
    this.membership?.resume();
  }

  onEnd(reason: GatewayError): void {
    this.parts?.end(`event: end\ndata: ${JSON.stringify(reason)}\n\n`);
  }

  /** Ends the stream with the codes that the WebSocket has. */
  end(code: number, message: string): void {
    this.endCode = code;
    this.parts?.end(`event: end\ndata: ${JSON.stringify({ code, message })}\n\n`);
  }
}

const markText = (end: EventId): string => `id: ${formatEventId(end)}\n\n`;

function eventText({ event, topic, members, body }: SealedEvent): string {
  const { slot, index, before, isComplete } = event;
  const name = before === null ? 'snapshot' : 'change';
  const id = before === null || !isComplete ? '' : `id: ${formatEventId({ slot, index })}\n`;
  const data = formatPushFrame(topic.name, `"address":"${topic.address}"${members}`, body);
  return `${id}event: ${name}\ndata: ${data}\n\n`;
}

const PARAMETERS: ReadonlySet<string> = new Set(['topics', 'commitment', 'since']);
const COMMITMENTS: readonly string[] = ['confirmed', 'finalized'] satisfies Commitment[];

/** Parses what a stream is about. Throws `invalid_query` or `invalid_address`. */
function parseEventQuery(
  query: readonly (readonly [name: string, value: string])[],
  lastEventId: string,
): ChannelTopics & { readonly since: EventId | undefined } {
  const unknown = query.find(([name]) => !PARAMETERS.has(name));
  if (unknown !== undefined)
    throw new GatewayError('invalid_query', `a stream of events has only the parameters ${[...PARAMETERS].join(', ')}`);
  const { topics = '', commitment = 'confirmed', since = '' } = Object.fromEntries(query);
  if (!COMMITMENTS.includes(commitment))
    throw new GatewayError('invalid_query', `commitment must be one of ${COMMITMENTS.join(', ')}`);
  return {
    topics: parseTopics(topics),
    commitment: commitment === 'finalized' ? 'finalized' : 'confirmed',
    since: lastEventId === '' ? parseSince('since', since) : parseSince('Last-Event-ID', lastEventId),
  };
}

function parseTopics(text: string): ChannelTopics['topics'] {
  const topics = text.split(',').map((topic) => {
    const [name, of, ...rest] = topic.split(':');
    if (!isTopicName(name) || rest.length > 0)
      throw new GatewayError('invalid_query', `topics must be a list like ${TOPIC_NAMES[0]}:ADDRESS,account:ADDRESS`);
    return { name, address: address.parse(of, 'topics') };
  });
  const isRepeated = new Set(topics.map((topic) => `${topic.name}:${topic.address}`)).size < topics.length;
  if (isRepeated) throw new GatewayError('invalid_query', 'topics names one twice');
  return topics;
}

function parseSince(name: string, text: string): EventId | undefined {
  if (text === '') return undefined;
  const id = parseEventId(text);
  if (id === undefined) throw new GatewayError('invalid_query', `${name} must be the id of an event, SLOT.INDEX`);
  return id;
}

const upgradeRequired = (): GatewayError =>
  new GatewayError(
    'upgrade_required',
    'the stream is a WebSocket: send an upgrade request, or name topics=balance:ADDRESS for Server-Sent Events',
  );
