import { waitFor } from './harness.ts';
import type { TestScope } from './test-scope.ts';

/** A message of pubsub, with the members that the tests read. */
interface Message {
  readonly id: unknown;
  readonly method: string;
  readonly result: unknown;
  readonly error: { readonly code: number; readonly message: string; readonly data: { readonly error: string } };
  readonly params: { readonly subscription: number; readonly result: Notification };
}

export interface Notification {
  readonly context: { readonly slot: number };
  readonly value: Readonly<Record<string, unknown>>;
  /** What slotgate adds where the subscription names it. */
  readonly slotgate?: {
    readonly event: string;
    readonly gap?: { readonly from: number; readonly to: number } | null;
    readonly answer?: { readonly result: { readonly lamports: number } };
  };
}

/** A client of Solana's pubsub. */
export interface PubsubTestClient {
  readonly texts: readonly string[];
  say(message: unknown): void;
  /** Sends a call; resolves to its answer. */
  call(method: string, ...params: readonly unknown[]): Promise<Message>;
  /** Returns the results that a subscription was notified of. */
  of(subscription: unknown): readonly Notification[];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  close(): void;
}

/** Connects to pubsub. `headers` are what a browser can't send. */
export async function connect(
  t: TestScope,
  url: string,
  options: { readonly protocols?: string[]; readonly headers?: Record<string, string> } = {},
): Promise<PubsubTestClient> {
  const socket = new WebSocket(url.replace('http', 'ws'), options);
  const texts: string[] = [];
  socket.onmessage = ({ data }) => {
    texts.push(String(data));
  };
  let end: { code: number; reason: string } | undefined;
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.onclose = ({ code, reason }) => {
      end = { code, reason };
      resolve(end);
    };
  });
  await new Promise<unknown>((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error('no upgrade'));
  });
  t.teardown(() => socket.close());
  let lastId = 0;
  const parsed = (): readonly Message[] => texts.map((text) => JSON.parse(text));
  const say = (message: unknown): void =>
    socket.send(typeof message === 'string' || message instanceof Uint8Array ? message : JSON.stringify(message));
  return {
    texts,
    say,
    async call(method, ...params) {
      const id = ++lastId;
      say({ jsonrpc: '2.0', id, method, params });
      const answer = (): Message | undefined => parsed().find((message) => message.id === id);
      await waitFor(() => {
        if (answer() === undefined && end !== undefined)
          throw new Error(`${method}: closed, ${end.code} ${end.reason}`);
        return answer() !== undefined;
      }, `the answer to ${method}`);
      return answer() as Message;
    },
    of: (subscription) =>
      parsed().flatMap(({ params }) => (params?.subscription === subscription ? params.result : [])),
    closed,
    close: () => socket.close(),
  };
}
