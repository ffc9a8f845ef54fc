import { run } from '../child-process.ts';

/** Addresses of IPv4, or of one IPv6 /48. */
export type CrowdKind = 'ipv4' | 'ipv6';

/** What a crowd of callers leaves behind in a process. */
export interface Crowd {
  /** By which its memory has grown. */
  readonly bytes: number;
  readonly admitted: number;
  readonly windows: number;
}

/**
 * Has a limiter as it ships count so many callers, in a process of its own. The room in which V8 makes new objects is
 * kept small there: in any that has much to do it has grown already, to three times 16 MiB, whoever calls.
 */
export async function countCrowd(kind: CrowdKind, callers: number): Promise<Crowd> {
  const counter = new URL('./caller-flood-process.js', import.meta.url);
  const child = run(counter, [kind, `${callers}`], { NODE_OPTIONS: '--max-semi-space-size=1' });
  await child.ended();
  return JSON.parse(child.out());
}
