import { WebSocket } from 'ws';
import type { Clock } from '../../domain/clock.ts';
import { RawJson, toJson } from '../../domain/json.ts';
import { members } from '../json/raw-json.ts';
import type { NodeOptions, UpstreamSettings } from '../options.ts';
import { Heartbeat } from './heartbeat.ts';
import { Inbox } from './inbox.ts';

/** Held back for longer, we are too slow for this node: better start anew than be ever more behind. */
const HELD_MS = 2000;

/** What is wanted of a node's pubsub, over however many connections. */
export interface Subscription {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Called with the bytes of each notification's `result`. */
  readonly notify: (result: Buffer) => void;
  /** Called when the node has taken it: what it tells after this is heard. */
  readonly acknowledged?: () => void;
  /** Called when the node won't have it. */
  readonly refused: () => void;
}

export interface ConnectionOptions {
  readonly node: NodeOptions;
  readonly settings: UpstreamSettings;
  readonly clock: Clock;
  opened(): void;
  /** The node has acknowledged a subscription. */
  acknowledged(): void;
  /** Called once, whatever the end was. After it nothing is called any more. */
  ended(reason: string): void;
}

/**
 * One WebSocket to a node, from handshake to end. It ends by itself when the node closes it (however politely), falls
 * silent, leaves a ping or a subscription unanswered, sends what can't be read or sends faster than we can take.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #socket: WebSocket;
  readonly #inbox: Inbox;
  readonly #wanted = new Set<Subscription>();
  readonly #asked = new Map<string, { readonly subscription: Subscription; readonly disarm: () => void }>();
  /** By the text of the node's own number, which may be larger than a double holds. Equal wishes share a number. */
  readonly #routes = new Map<string, Set<Subscription>>();
  readonly #heartbeat: Heartbeat;
  #cancelHeld = (): void => {};
  #lastId = 0;
  #ended = false;

  constructor(options: ConnectionOptions) {
    const { node, settings, clock } = options;
    this.#options = options;
    this.#heartbeat = new Heartbeat({
      clock,
      pingMs: settings.pingMs,
      silenceMs: settings.silenceMs,
      ping: () => this.#socket.ping(),
      lost: (reason) => this.end(reason),
    });
    this.#inbox = new Inbox({
      maxBytes: settings.maxBytes, // a single message may have as many
      take: (message) => this.#take(message),
      hold: () => this.#hold(),
      release: () => this.#release(),
    });
    this.#socket = new WebSocket(node.wsUrl, {
      headers: { ...node.headers },
      perMessageDeflate: false,
      maxPayload: settings.maxBytes,
      handshakeTimeout: settings.ackMs,
    });
    this.#socket.on('open', () => {
      if (this.#ended) return;
      this.#heartbeat.start();
      options.opened();
    });
    this.#socket.on('pong', () => this.#heartbeat.answered());
    this.#socket.on('message', (data) => {
      this.#heartbeat.heard();
      if (!this.#ended && Buffer.isBuffer(data)) this.#inbox.push(data);
    });
    this.#socket.on('error', () => this.end('failed')); // its message may hold the host
    this.#socket.on('close', () => this.end('was closed'));
  }

  /** Asks for a subscription. From the first on, silence counts: a node's slots never cease. */
  subscribe(subscription: Subscription): void {
    const { clock, settings } = this.#options;
    this.#heartbeat.expectWords();
    this.#wanted.add(subscription);
    const disarm = clock.after(settings.ackMs, () => this.end('left a subscription unanswered'));
    this.#asked.set(this.#send(subscription.method, subscription.params), { subscription, disarm });
  }

  unsubscribe(subscription: Subscription): void {
    this.#wanted.delete(subscription);
    for (const [route, sharing] of this.#routes) if (sharing.has(subscription)) this.#leave(route, subscription);
  }

  /** Ends the connection. Not with a closing handshake: a dead node would leave us waiting for its half. */
  end(reason: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#heartbeat.stop();
    this.#cancelHeld();
    for (const { disarm } of this.#asked.values()) disarm();
    this.#inbox.close();
    this.#socket.terminate();
    this.#options.ended(reason);
  }

  #send(method: string, params: readonly unknown[]): string {
    const id = `${++this.#lastId}`;
    this.#socket.send(toJson({ jsonrpc: '2.0', id: new RawJson(id), method, params }), () => {}); // a failure also closes
    return id;
  }

  #leave(route: string, subscription: Subscription): void {
    const sharing = this.#routes.get(route);
    sharing?.delete(subscription);
    if (sharing === undefined || sharing.size > 0) return;
    this.#routes.delete(route);
    const { method } = subscription;
    this.#send(method.replace('Subscribe', 'Unsubscribe'), [new RawJson(route)]);
  }

  /** The acknowledgement and the notifications after it are taken in order, so none can come before its route. */
  #take(message: Buffer): void {
    if (this.#ended) return;
    try {
      const parts = members(message);
      const params = parts.get('params');
      if (params === undefined) this.#acknowledge(parts);
      else this.#notify(members(params));
    } catch {
      this.end('sent what could not be taken');
    }
  }

  #notify(params: ReadonlyMap<string, Buffer>): void {
    const result = params.get('result');
    if (result === undefined) return;
    for (const { notify } of this.#routes.get(`${params.get('subscription')}`) ?? []) notify(result);
  }

  #acknowledge(answer: ReadonlyMap<string, Buffer>): void {
    const id = `${answer.get('id')}`;
    const asked = this.#asked.get(id);
    if (asked === undefined) return; // such as the answer to an unsubscribe
    const { subscription, disarm } = asked;
    this.#asked.delete(id);
    disarm();
    const route = answer.get('result')?.toString();
    if (route === undefined) {
      subscription.refused();
    } else {
      const sharing = this.#routes.get(route) ?? new Set();
      this.#routes.set(route, sharing.add(subscription));
      if (!this.#wanted.has(subscription)) this.#leave(route, subscription);
      else subscription.acknowledged?.();
      this.#options.acknowledged();
    }
  }

  #hold(): void {
    this.#socket.pause();
    this.#heartbeat.setDeaf(true);
    this.#cancelHeld = this.#options.clock.after(HELD_MS, () => this.end('sent more than could be taken'));
  }

  #release(): void {
    this.#cancelHeld();
    this.#heartbeat.setDeaf(false);
    if (!this.#ended) this.#socket.resume();
  }
}
