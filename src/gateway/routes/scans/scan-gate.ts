import type { Clock } from '../../../shared/domain/clock.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { FairSemaphore } from '../../../shared/runtime/fair-semaphore.ts';
import { NO_ROOM_FOR_ANY } from '../../upstream/rpc/rpc-client.ts';

/** The most scans in the process: each holds a response of up to 64 MiB until its table is made. */
const MAX_SCANS = 2;

const MAX_WAITING_PER_CALLER = 2;
const MAX_WAITING = 16;

/** The longest wait: as long as a scan may take. */
const MAX_WAIT_MS = 10_000;

/** Seconds after which a rejected caller may find room. */
const RETRY_AFTER_SECONDS = 5;

const OWN_SHARE = 'the caller has too many scans';

/** Bounds the scans of programs: one at a time for a caller, {@link MAX_SCANS} in all. Others wait, or are `overloaded`. */
export class ScanGate {
  readonly #scans: FairSemaphore<string | undefined>;

  constructor(clock: Pick<Clock, 'after'>) {
    const bounds = { maxRunning: MAX_SCANS, maxWaiting: MAX_WAITING, maxWaitMs: MAX_WAIT_MS };
    const hasPlace = (): boolean => this.#scans.running < MAX_SCANS;
    this.#scans = new FairSemaphore({
      ...bounds,
      clock,
      overloaded: (why) => overloaded(why === OWN_SHARE || hasPlace() ? undefined : NO_ROOM_FOR_ANY),
    });
  }

  /** Undefined is the gateway itself, which may have several. Rejects with `overloaded` when others wait too long. */
  run<R>(caller: string | undefined, scan: () => Promise<R>): Promise<R> {
    const maxRunning = caller === undefined ? MAX_SCANS : 1;
    const share = { key: caller, maxRunning, maxWaiting: MAX_WAITING_PER_CALLER, refusal: OWN_SHARE };
    return this.#scans.run({ shares: [share] }, scan);
  }
}

const overloaded = (cause: string | undefined): GatewayError =>
  new GatewayError('overloaded', 'too many scans of holders or stake accounts are under way: retry in a few seconds', {
    retryAfter: RETRY_AFTER_SECONDS,
    cause,
  });
