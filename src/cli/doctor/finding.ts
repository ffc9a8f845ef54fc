/** `warn` is worth a look; with `fail` a start fails, or answers will be missing or wrong. */
export type Verdict = 'ok' | 'warn' | 'fail';

export interface Finding {
  readonly verdict: Verdict;
  /** What was checked; of a node with its id. */
  readonly name: string;
  readonly finding: string;
  readonly fix?: string;
}

export const ok = (name: string, finding: string): Finding => ({ verdict: 'ok', name, finding });
export const warn = (name: string, finding: string, fix: string): Finding => ({ verdict: 'warn', name, finding, fix });
export const fail = (name: string, finding: string, fix: string): Finding => ({ verdict: 'fail', name, finding, fix });
