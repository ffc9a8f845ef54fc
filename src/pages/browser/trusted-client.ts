import type { ClientOptions, Reader } from '../../client/index.ts';
import { TIMEOUT_MS } from '../feed/read-health.ts';
import { KeyMemory } from '../live/key-memory.ts';
import { apiUrl, gatewayUrl } from './gateway-url.ts';

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

export interface TrustedClient<C extends Reader = Reader> {
  readonly client: C;
  readonly cluster: string;
  readonly publicKey: string;
}

/** Creates a client that trusts the key which this browser saw first on a cluster, or sees now. */
export async function createTrustedClient<C extends Reader>(
  cluster: string,
  create: (options: ClientOptions) => C,
): Promise<TrustedClient<C>> {
  const remembered = keyMemory.keyOf(cluster);
  const publicKey = remembered ?? (await readPublicKey());
  if (remembered === undefined) keyMemory.remember(cluster, publicKey);
  const client = create({
    url: gatewayUrl(),
    publicKey,
    cluster,
    attempts: 2,
  });
  return { client, cluster, publicKey };
}
