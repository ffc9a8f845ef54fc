import { toJson } from '../domain/to-json.ts';
import { formatSignedBody, resultTextIn } from '../receipts/signed-body.ts';
import { ReceiptError } from '../receipts/verify/receipt-error.ts';
import type { Answer, Read, ReadOptions, Rest } from './answer.ts';
import type { Body, Path, PostPath, Result } from './declared.ts';
import { finalityOf, undressed, undressOf } from './dress.ts';
import { newNonce } from './nonce.ts';
import type { Prove } from './proof.ts';
import type { Patience, Reply, Send } from './send.ts';
import { type Given, targetOf } from './target.ts';

/** Reads of every route, typed by their declarations. */
export interface Reads {
  /** `get('/balance/:addr', { addr })`. Throws SlotgateError, and ReceiptError for an answer that isn't proven. */
  get<P extends Path>(path: P, ...rest: Rest<P>): Promise<Answer<P>>;
  /** `post('/rpc', { method: 'getSlot' })`. Throws SlotgateError. */
  post<P extends PostPath>(path: P, body: Body<P>, patience?: Patience): Promise<{ readonly result: Result<P> }>;
}

export function createReads(send: Send, prove: Prove): Reads {
  async function get(path: string, params: Given = {}, options: ReadOptions = {}): Promise<unknown> {
    const { minSlot, nonce: wish = false, since } = options;
    const target = targetOf(path, params);
    const nonce = wish === true ? newNonce() : wish || null;
    const headers = {
      ...(minSlot !== undefined && { 'x-min-slot': String(minSlot) }),
      ...(nonce !== null && { 'x-receipt-nonce': nonce }),
      ...(since?.etag && { 'if-none-match': since.etag }),
    };
    const reply = await send({ target, headers }, options);
    const envelope = undressOf(path);
    if (envelope !== undefined) return undressed(reply, envelope);
    const unchanged = reply.status === 304;
    const proven = await prove(unchanged ? renewed(reply, since) : reply.body, {
      request: `GET ${target}`,
      nonce,
      minSlot,
      isFinal: finalityOf(path),
    });
    return { ...proven, unchanged, etag: reply.headers.get('etag') };
  }

  async function post(path: string, body: unknown, patience: Patience = {}): Promise<unknown> {
    const reply = await send({ target: targetOf(path, {}), body: toJson(body) }, patience);
    return undressed(reply, undressOf(path) ?? 'bare');
  }

  // What a path takes and answers is the word of its declaration, which is there for the compiler only.
  return { get: get as Reads['get'], post: post as Reads['post'] };
}

/** The body that a 200 would have had now: the old result under the new receipt. */
function renewed({ headers }: Reply, since: Read<unknown> | undefined): string {
  const receipt = headers.get('x-receipt');
  const slot = headers.get('x-slot');
  const result = since && resultTextIn(since.body, since.slot);
  if (result === undefined || receipt === null || slot === null) throw new ReceiptError('envelope');
  return formatSignedBody(result, Number(slot), receipt);
}
