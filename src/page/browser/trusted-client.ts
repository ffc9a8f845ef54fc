import { type Client, createClient, type OpenSocket } from '../../client/client.ts';
import type { Result } from '../../client/route-types.ts';
import { KeyMemory } from '../live/key-memory.ts';
import { apiUrl, gatewayUrl } from './gateway-url.ts';

/** The longest wait for an answer about the gateway itself, in milliseconds. */
const TIMEOUT_MS = 5000;

/** What `/health` says: the state of a gateway that can be used, or why this one can't. */
export type HealthReport =
  | { readonly isUsable: true; readonly health: Result<'/health'> }
  | { readonly isUsable: false; readonly message: string };

/** Reads the gateway's health, which is free. Rejects if nobody answers. */
export async function readHealth(): Promise<HealthReport> {
  const response = await fetch(apiUrl('/health'), { cache: 'no-store', signal: AbortSignal.timeout(TIMEOUT_MS) });
  const { result, message } = await response.json();
  return result === undefined ? { isUsable: false, message: String(message) } : { isUsable: true, health: result };
}

/** Reads the key that the gateway signs with now. */
export async function readPublicKey(): Promise<string> {
  const response = await fetch(apiUrl('/pubkey'), { cache: 'no-store', signal: AbortSignal.timeout(TIMEOUT_MS) });
  const { publicKey, message } = await response.json();
  if (!response.ok) throw new Error(String(message));
  return String(publicKey);
}

/** The keys that this browser has seen. */
export const keyMemory = new KeyMemory({
  getItem: (name) => localStorage.getItem(name),
  setItem: (name, value) => localStorage.setItem(name, value),
});

/** A client, and what it trusts. */
export interface TrustedClient {
  readonly client: Client;
  readonly cluster: string;
  readonly publicKey: string;
}

/** Creates a client that trusts the key which this browser saw first on a cluster, or sees now. */
export async function createTrustedClient(cluster: string, openSocket?: OpenSocket): Promise<TrustedClient> {
  const remembered = keyMemory.keyOf(cluster);
  const publicKey = remembered ?? (await readPublicKey());
  if (remembered === undefined) keyMemory.remember(cluster, publicKey);
  const client = createClient({
    url: gatewayUrl(),
    publicKey,
    cluster,
    attempts: 2,
    ...(openSocket && { openSocket }),
  });
  return { client, cluster, publicKey };
}
