import { runModule } from '../child-process.ts';

/** Addresses of IPv4, or of one IPv6 /48. */
export type AddressFamily = 'ipv4' | 'ipv6';

/** The effect of many callers on a process. */
export interface CallerFloodResult {
  /** Growth of its memory, in bytes. */
  readonly grownBytes: number;
  readonly admitted: number;
  readonly windows: number;
}

/**
 * Counts callers with a limiter of default settings, in a child process. V8's young generation is kept small there: in
 * a busy process it has grown to its full size, three times 16 MiB, already.
 */
export async function floodLimiter(family: AddressFamily, callers: number): Promise<CallerFloodResult> {
  const program = new URL('./caller-flood-process.js', import.meta.url);
  const child = runModule(program, [family, `${callers}`], { NODE_OPTIONS: '--max-semi-space-size=1' });
  await child.exit();
  return JSON.parse(child.stdout());
}
