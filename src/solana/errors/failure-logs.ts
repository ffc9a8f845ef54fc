/** What the logs of a failed transaction say about the failure. */
export interface LoggedFailure {
  /** The program that failed first: the innermost one, since a failed call can not be caught. */
  readonly programId: string;
  /** Solana's own words, after `failed:`. */
  readonly reason: string;
  /** What a program made with Anchor said before it failed. */
  readonly anchor: { readonly name: string; readonly code: number; readonly message: string } | null;
  /** The last `Error: …` that the program itself wrote. */
  readonly said: string | null;
}

const INVOKE = /^Program (\w{32,44}) invoke \[\d+\]$/;
const SUCCESS = /^Program (\w{32,44}) success$/;
const FAILED = /^Program (\w{32,44}) failed: (.*)$/s;
const ANCHOR = /^Program log: AnchorError .*?Error Code: (\w+)\. Error Number: (\d+)\. Error Message: (.*)$/s;
const SAID = /^Program log: Error: (.*)$/s;

/** Null when no program failed, or its line was cut off: nodes cap the logs of a transaction. */
export function readFailure(logs: readonly string[]): LoggedFailure | null {
  const running: Pick<LoggedFailure, 'anchor' | 'said'>[] = [];
  for (const line of logs) {
    const [, failed, reason = ''] = FAILED.exec(line) ?? [];
    if (failed !== undefined) return { anchor: null, said: null, ...running.at(-1), programId: failed, reason };
    if (INVOKE.test(line)) running.push({ anchor: null, said: null });
    else if (SUCCESS.test(line)) running.pop();
    else note(line, running);
  }
  return null;
}

function note(line: string, running: Pick<LoggedFailure, 'anchor' | 'said'>[]): void {
  const [, name, code, message] = ANCHOR.exec(line) ?? [];
  const [, said] = SAID.exec(line) ?? [];
  const before = running.pop();
  if (before === undefined) return;
  if (name !== undefined && message !== undefined)
    running.push({ ...before, anchor: { name, code: Number(code), message: quotable(message) } });
  else running.push(said === undefined ? before : { ...before, said: quotable(said) });
}

/** A program writes what it likes: at most a line of printable text is repeated. */
function quotable(text: string): string {
  const line = text.replace(/[^\p{L}\p{N}\p{P}\p{S} ]+/gu, ' ').replace(/ +/g, ' ');
  return line.slice(0, 120).trim().replace(/\.$/, '');
}
