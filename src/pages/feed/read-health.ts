import type { Health, HealthReport } from '../live/health.ts';

/** The longest wait for an answer about the gateway itself, in milliseconds. */
export const TIMEOUT_MS = 5000;

/** Reads the health of a gateway, which is free. Rejects if nobody answers, or another program. */
export async function readHealth(base: string | URL): Promise<HealthReport> {
  const url = new URL('api/v1/health', base);
  const response = await fetch(url, { cache: 'no-store', signal: AbortSignal.timeout(TIMEOUT_MS) });
  const { result, message } = (await response.json()) as { readonly result?: Health; readonly message?: string };
  const numberIn = (header: string): number => Number(response.headers.get(header));
  return {
    cluster: result?.cluster ?? response.headers.get('x-cluster') ?? undefined,
    slot: result?.slot ?? numberIn('x-slot'),
    slotAgeMs: result?.slotAgeMs ?? numberIn('x-slot-age') * 1000,
    health: result,
    message: String(message ?? ''),
  };
}
