import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Principal } from '../../access/limits/tiers.ts';
import type { UsageCounter } from '../../access/usage/usage-counter.ts';
import type { RequestOutcome } from '../../access/usage/usage-line.ts';

/** Counts a request and its units in the usage of its API key; a wallet has no usage record, and an address neither. */
export function recordUsage(
  usage: UsageCounter,
  principal: Principal | undefined,
  route: string,
  outcome: RequestOutcome,
  units: number,
): void {
  if (principal?.key !== undefined) usage.count(principal.key, route, outcome, units);
}

export function usageOutcomeOf(thrown: unknown): RequestOutcome {
  const { status } = GatewayError.from(thrown);
  if (status === 429) return 'limited';
  return status < 500 ? 'refused' : 'failed';
}
