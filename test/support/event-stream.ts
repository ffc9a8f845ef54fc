import { request } from 'undici';

/** An event as EventSource dispatches it; a mark has no data. */
export interface ServerSentEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

export interface EventStreamReader {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** All that has come, marks included. */
  readonly events: readonly ServerSentEvent[];
  /** The id that EventSource would send as `Last-Event-ID`. */
  readonly lastId: string;
  /** Whether the stream has ended, for whatever reason. */
  readonly hasEnded: boolean;
  /** Stops to read, until {@link resume}. */
  pause(): void;
  resume(): void;
  close(): void;
}

/** Opens a stream of Server-Sent Events and reads it by the rules of the HTML standard (9.2.6). */
export async function openEventStream(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<EventStreamReader> {
  const abortion = new AbortController();
  const answer = await request(url, { headers, signal: abortion.signal, bodyTimeout: 0 });
  const events: ServerSentEvent[] = [];
  let lastId = headers['last-event-id'] ?? '';
  let text = '';
  let hasEnded = false;
  answer.body.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const event = parseBlock(text.slice(0, end));
      text = text.slice(end + 2);
      lastId = event.id ?? lastId;
      events.push(event);
    }
  });
  answer.body.on('error', () => {}); // close follows
  answer.body.on('close', () => {
    hasEnded = true;
  });
  return {
    status: answer.statusCode,
    headers: answer.headers,
    events,
    get lastId() {
      return lastId;
    },
    get hasEnded() {
      return hasEnded;
    },
    pause: () => void answer.body.pause(),
    resume: () => void answer.body.resume(),
    close: () => abortion.abort(),
  };
}

function parseBlock(block: string): ServerSentEvent {
  const fields = new Map(
    block.split('\n').map((line): [string, string] => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)];
    }),
  );
  return { id: fields.get('id'), event: fields.get('event') ?? 'message', data: fields.get('data') ?? '' };
}
