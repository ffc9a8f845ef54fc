import type { ClientOptions, Reader } from '../../client/index.ts';
import type { ReceiptFault } from '../../client/verify/index.ts';
import type { Clock } from '../../shared/domain/clock.ts';
import { systemClock } from '../../shared/runtime/system-clock.ts';
import { TIMEOUT_MS } from '../feed/read-health.ts';
import { apiUrl, gatewayUrl } from './gateway-url.ts';
import { keyMemory } from './store.ts';

export async function readPublicKey(): Promise<string> {
  const response = await fetch(apiUrl('/pubkey'), { cache: 'no-store', signal: AbortSignal.timeout(TIMEOUT_MS) });
  const { publicKey, message } = await response.json();
  if (!response.ok) throw new Error(String(message));
  return String(publicKey);
}

export interface TrustedClient<C extends Reader = Reader> {
  readonly client: C;
  readonly cluster: string;
  readonly publicKey: string;
  /** The gateway's time, in Unix milliseconds. */
  readonly now: Clock['now'];
}

const clockOf = (now: Clock['now']): Clock => ({ ...systemClock, now });

/**
 * Creates a client that trusts the key which this browser saw first on a cluster, or sees now. Its clock is the gateway's, as an
 * answer to a nonce has it, which nobody can have signed before: the reader's own may be wrong, and an old receipt stays old.
 * Without that answer it is what `assumedNow` says.
 */
export async function createTrustedClient<C extends Reader>(
  cluster: string,
  create: (options: ClientOptions) => C,
  assumedNow: Clock['now'] = Date.now,
): Promise<TrustedClient<C>> {
  const remembered = keyMemory.keyOf(cluster);
  const publicKey = remembered ?? (await readPublicKey());
  if (remembered === undefined) keyMemory.remember(cluster, publicKey);
  const options = { url: gatewayUrl(), publicKey, cluster, attempts: 2 };
  const dateless = create({
    ...options,
    maxAgeMs: Number.POSITIVE_INFINITY,
    clock: clockOf(() => Number.MAX_SAFE_INTEGER),
  });
  const sent = systemClock.monotonic(); // as of its arrival a late answer would set the clock back, which the verifier bears for 5 s only
  const [sentMs, assumedMs] = [Date.now(), assumedNow()];
  const issuedAt = await dateless.get('/slot', {}, { nonce: true, attempts: 1, timeoutMs: TIMEOUT_MS }).then(
    ({ receipt }) => receipt.issuedAt,
    () => assumedMs,
  );
  // by the clock that ran further: the reader's may be set back, and the other stand still while the machine sleeps
  const now = (): number => issuedAt + Math.max(Date.now() - sentMs, systemClock.monotonic() - sent);
  const client = create({ ...options, clock: clockOf(now) });
  return { client, cluster, publicKey, now };
}

/** Returns whether a fault may be that of a client's clock, which is wrong once the reader's own has been set. */
export const isOfClock = (fault: ReceiptFault | undefined): boolean => fault === 'future' || fault === 'stale';
