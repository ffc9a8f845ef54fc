import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Pool } from 'undici';
import { WebSocket, WebSocketServer } from 'ws';
import { bodyOf, listenOnLoopback } from '../../../support/loopback-server.ts';
import { AnswerMutator } from './answer-mutator.ts';

/** How often a node's answers are changed, from 0 to 1, and how many changed copies follow a notification. */
export interface MutationRates {
  readonly http: number;
  readonly acknowledgements: number;
  readonly copies: number;
}

export interface MutationCounts {
  readonly http: number;
  readonly webSocket: number;
}

const NONE: MutationRates = { http: 0, acknowledgements: 0, copies: 0 };
/** A changed genesis hash or slot alone takes the node out of use for a while, and then it answers nothing. */
const VITAL_METHODS = /"method":"(getGenesisHash|getSlot|getHealth|getVersion)"/;
const VITAL_RATE = 0.02;
const ID = /"id":\d+/;
/** Time in which equal requests get the same answer, in milliseconds: less than two slots. */
const SHARED_MS = 200;
const REMEMBERED = 6;
const SHOWN_LENGTH = 600;

/** A node that passes on what a cluster answers, and changes much of it. */
export class MutatingNode {
  rates = NONE;
  readonly #cluster: { readonly pool: Pool; readonly wsUrl: string };
  readonly #http: Server;
  #port = 0;
  readonly #answers = new Map<string, Promise<string>>();
  #mutator = new AnswerMutator(0);
  #counts = { http: 0, webSocket: 0 };
  #last: string[] = [];
  #draw = 0;

  static async start(cluster: { readonly url: string; readonly wsUrl: string }): Promise<MutatingNode> {
    const node = new MutatingNode(cluster);
    node.#port = await listenOnLoopback(node.#http);
    return node;
  }

  private constructor({ url, wsUrl }: { readonly url: string; readonly wsUrl: string }) {
    this.#cluster = { pool: new Pool(url, { connections: 8 }), wsUrl };
    this.#http = createServer((req, res) => this.#serve(req, res).catch(() => res.destroy()));
    const pubsub = new WebSocketServer({ server: this.#http });
    pubsub.on('connection', (socket) => this.#connect(socket));
  }

  /** The arguments of `--upstream` for as many nodes as are wanted, which differ in their paths alone. */
  upstreams(count: number): readonly string[] {
    const place = `127.0.0.1:${this.#port}`;
    return Array.from({ length: count }, (_, i) => `http://${place}/${i},ws://${place}/${i}`);
  }

  /** Changes nothing until {@link rates} are set, then by this seed. */
  reset(seed: number): void {
    this.rates = NONE;
    this.#mutator = new AnswerMutator(seed);
    this.#counts = { http: 0, webSocket: 0 };
    this.#last = [];
    this.#draw = 0;
  }

  get counts(): MutationCounts {
    return this.#counts;
  }

  /** The answers that were changed last, each with its number and its change. */
  get lastMutants(): readonly string[] {
    return this.#last;
  }

  async close(): Promise<void> {
    await this.#cluster.pool.destroy();
    this.#http.close();
    this.#http.closeAllConnections();
  }

  #mutate(answer: Buffer, over: keyof MutationCounts): Buffer {
    const number = this.#counts.http + this.#counts.webSocket;
    this.#counts[over]++;
    const { bytes, kind } = this.#mutator.mutate(answer, number);
    this.#last.push(`${number} over ${over}, ${kind}: ${JSON.stringify(bytes.toString('latin1', 0, SHOWN_LENGTH))}`);
    if (this.#last.length > REMEMBERED) this.#last.shift();
    return bytes;
  }

  /** Spreads a rate evenly. */
  #isDue(rate: number): boolean {
    this.#draw += rate;
    if (this.#draw < 1) return false;
    this.#draw %= 1;
    return true;
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const call = (await bodyOf(req)).toString();
    const body = await this.#answer(call);
    const rate = VITAL_METHODS.test(call) ? Math.min(VITAL_RATE, this.rates.http) : this.rates.http;
    const sent = this.#isDue(rate) ? this.#mutate(body, 'http') : body;
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': sent.length });
    res.end(sent);
  }

  /** Returns the cluster's answer, which equal requests of a short time share: they change it, not the cluster. */
  async #answer(sent: string): Promise<Buffer> {
    const id = ID.exec(sent)?.[0] ?? '';
    const question = sent.replace(ID, '"id":0');
    const known = this.#answers.get(question);
    const answer = known ?? this.#callNode(question);
    if (known === undefined) {
      this.#answers.set(question, answer);
      setTimeout(() => this.#answers.delete(question), SHARED_MS).unref();
    }
    return Buffer.from((await answer).replace('"id":0', id), 'latin1');
  }

  async #callNode(question: string): Promise<string> {
    const { body } = await this.#cluster.pool.request({
      path: '/',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: question,
    });
    return Buffer.from(await body.arrayBuffer()).toString('latin1');
  }

  #connect(socket: WebSocket): void {
    const node = new WebSocket(this.#cluster.wsUrl);
    const waiting: Buffer[] = [];
    socket.on('message', (data: Buffer) => {
      if (node.readyState === WebSocket.OPEN) node.send(data.toString());
      else waiting.push(data);
    });
    node.on('open', () => {
      for (const data of waiting) node.send(data.toString());
    });
    node.on('message', (data: Buffer) => this.#pass(socket, data));
    for (const [end, other] of [
      [socket, node],
      [node, socket],
    ] as const) {
      end.on('error', () => {}); // close follows
      end.on('close', () => other.terminate());
    }
  }

  #pass(socket: WebSocket, data: Buffer): void {
    const isNotification = data.includes('"params"');
    if (!isNotification && this.#isDue(this.rates.acknowledgements)) {
      socket.send(this.#mutate(data, 'webSocket'), { binary: true });
      return;
    }
    socket.send(data, { binary: false });
    if (!isNotification) return;
    // A WebSocket client refuses text that is not UTF-8 by itself; binary messages reach the decoders.
    for (let i = 0; i < this.rates.copies && socket.readyState === WebSocket.OPEN; i++)
      socket.send(this.#mutate(data, 'webSocket'), { binary: i % 2 === 1 });
  }
}
