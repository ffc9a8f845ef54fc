import { skippedShare } from '../plot/history-columns.ts';
import type { Verify } from './verify.ts';

const TARGET = 'api/v1/network/history?step=60&span=1h';

/** Reads which share of the last hour's slots was skipped. Undefined without an answer, or if it must not be shown. */
export async function readSkipRate(base: string, verify: Verify | undefined): Promise<number | null | undefined> {
  try {
    const answer = await fetch(base + TARGET);
    const text = await answer.text();
    if (verify && !(await verify(text, `GET /${TARGET}`))) return undefined;
    return skippedShare(JSON.parse(text).result.rows);
  } catch {
    return undefined;
  }
}
