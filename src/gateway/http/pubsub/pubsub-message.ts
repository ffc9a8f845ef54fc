import { MAX_U64 } from '../../../shared/domain/max-u64.ts';
import { elements, member } from '../../upstream/json/raw-json.ts';

/** A request of a client. What is wrong with its method or parameters is answered; its id is one that a node accepts. */
export interface PubsubRequest {
  /** As JSON, a number as it is written: it may exceed a double. Undefined for a notification, which is not answered. */
  readonly id: string | undefined;
  readonly jsonrpc: unknown;
  readonly method: unknown;
  readonly params: unknown;
  /** Whether it is a message of slotgate's own stream. */
  readonly isOfStream: boolean;
}

export interface PubsubMessage {
  readonly requests: readonly PubsubRequest[];
  readonly isBatch: boolean;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Returns the requests of a message: one, or those of a batch. Undefined where a node answers that it can't parse it. */
export function parseMessage(bytes: Buffer): PubsubMessage | undefined {
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes));
    if (!Array.isArray(value)) return { requests: [toRequest(value, bytes)], isBatch: false };
    const texts = elements(bytes);
    return { requests: value.map((each, i) => toRequest(each, texts[i] ?? bytes)), isBatch: true };
  } catch {
    return undefined;
  }
}

function toRequest(value: unknown, text: Buffer): PubsubRequest {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('a request is an object');
  const { id, jsonrpc, method, params }: { readonly [name: string]: unknown } = { ...value };
  const isNotification = id === undefined && typeof method === 'string';
  const written = isNotification ? undefined : idAsWritten(id, text);
  return { id: written, jsonrpc, method, params: params ?? [], isOfStream: Object.hasOwn(value, 'op') };
}

function idAsWritten(id: unknown, text: Buffer): string {
  if (id === undefined || id === null) return 'null';
  if (typeof id === 'string') return JSON.stringify(id);
  const digits = String(member(text, 'id'));
  if (typeof id !== 'number' || !/^\d+$/.test(digits) || BigInt(digits) > MAX_U64) throw new Error('no id of JSON-RPC'); // of digits (jsonrpc-core, Id)
  return digits;
}
