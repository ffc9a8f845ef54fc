import { runModule } from '../child-process.ts';

/** Addresses of IPv4, or of one IPv6 /48. */
export type AddressFamily = 'ipv4' | 'ipv6';

/** What a crowd of callers leaves behind in a process. */
export interface CallerFloodResult {
  /** By which its memory has grown. */
  readonly grownBytes: number;
  readonly admitted: number;
  readonly windows: number;
}

/**
 * Has a limiter as it ships count so many callers, in a process of its own. The room in which V8 makes new objects is
 * kept small there: in any that has much to do it has grown already, to three times 16 MiB, whoever calls.
 */
export async function floodLimiter(family: AddressFamily, callers: number): Promise<CallerFloodResult> {
  const program = new URL('./caller-flood-process.js', import.meta.url);
  const child = runModule(program, [family, `${callers}`], { NODE_OPTIONS: '--max-semi-space-size=1' });
  await child.exit();
  return JSON.parse(child.stdout());
}
