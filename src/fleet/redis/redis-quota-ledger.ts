import type { QuotaAsk, QuotaLedger, QuotaShare, QuotaState } from '../../access/quota/quota-ledger.ts';
import { FIELDS_PER_SHARE, SETTLE } from './quota-script.ts';
import type { RedisConnection } from './redis-connection.ts';

export interface RedisQuotaLedgerOptions {
  readonly redis: Pick<RedisConnection, 'run' | 'subscribe'>;
  /** The name of this gateway, which no other has or had. */
  readonly member: string;
  /** The start of all keys of the fleet. */
  readonly prefix: string;
  /** The number of gateways that were heard last. */
  readonly members: () => number;
}

/** The shares of gateways in windows that Redis keeps. A window whose ask was lost is right again with the next ask. */
export class RedisQuotaLedger implements QuotaLedger {
  readonly #options: RedisQuotaLedgerOptions;

  constructor(options: RedisQuotaLedgerOptions) {
    this.#options = options;
  }

  get members(): number {
    return Math.max(1, this.#options.members());
  }

  async settle(asks: readonly QuotaAsk[]): Promise<readonly QuotaShare[]> {
    const { redis, member } = this.#options;
    const prefix = this.#windowPrefix;
    const keys = asks.map(({ id }) => prefix + id);
    const args = asks.flatMap(argsOf);
    const fields = (await redis.run(SETTLE, keys, [member, this.#channel, prefix, ...args])) as number[];
    return asks.map(({ id }, i) => shareOf(id, fields.slice(i * FIELDS_PER_SHARE, (i + 1) * FIELDS_PER_SHARE)));
  }

  onLeft(hear: (left: QuotaState) => void): () => void {
    return this.#options.redis.subscribe(this.#channel, (message) => {
      for (const [id, left, window, endsInMs, reset, limit, windowMs, changes] of JSON.parse(message) as LeftFields[])
        hear({ id, limit, windowMs, left, window, endsInMs, reset, changes });
    });
  }

  get #windowPrefix(): string {
    return `${this.#options.prefix}w:`;
  }

  get #channel(): string {
    return `${this.#options.prefix}left`;
  }
}

type LeftFields = [
  id: string,
  left: number,
  window: number,
  endsInMs: number,
  reset: number,
  limit: number,
  windowMs: number,
  changes: number,
];

const argsOf = ({ limit, windowMs, window, ageMs, used, want, need }: QuotaAsk): readonly number[] => [
  ...[limit, windowMs, window, Math.round(ageMs)],
  ...[used, want, need], // ARGS_PER_ASK of them
];

function shareOf(id: string, fields: readonly number[]): QuotaShare {
  const [share = 0, left = 0, window = 0, endsInMs = 0, reset = 0, limit = 0, windowMs = 0, changes = 0, isOver = 0] =
    fields;
  return { id, share, left, window, endsInMs, reset, limit, windowMs, changes, held: 0, isOver: isOver === 1 };
}
