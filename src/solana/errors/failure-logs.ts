/** The failure as reported in a failed transaction's logs. */
export interface LoggedFailure {
  /** The program that failed first: the innermost one, since a failed call can't be caught. */
  readonly programId: string;
  /** The runtime's text after `failed:`. */
  readonly reason: string;
  /** The Anchor error that the program logged before it failed. */
  readonly anchor: { readonly name: string; readonly code: number; readonly message: string } | null;
  /** The text of the last `Error: …` that the program logged. */
  readonly loggedError: string | null;
}

/** The longest part of a logged text that is looked at; an explanation quotes less. */
const MAX_TEXT_LENGTH = 1024;

const INVOKE_LINE = /^Program (\w{32,44}) invoke \[\d+\]$/;
const SUCCESS_LINE = /^Program (\w{32,44}) success$/;
const FAILED_LINE = /^Program (\w{32,44}) failed: (.*)$/s;
const ANCHOR_ERROR_LINE =
  /^Program log: AnchorError .*?Error Code: (\w{1,64})\. Error Number: (\d{1,10})\. Error Message: (.*)$/s;
const ERROR_LINE = /^Program log: Error: (.*)$/s;

/** Returns the failure in the logs. Null if no program failed, or if its line is missing: nodes truncate logs. */
export function parseFailureLogs(logs: readonly string[]): LoggedFailure | null {
  const callStack: Pick<LoggedFailure, 'anchor' | 'loggedError'>[] = [];
  for (const line of logs) {
    const [, failed, reason = ''] = FAILED_LINE.exec(line) ?? [];
    if (failed !== undefined)
      return { anchor: null, loggedError: null, ...callStack.at(-1), programId: failed, reason };
    if (INVOKE_LINE.test(line)) callStack.push({ anchor: null, loggedError: null });
    else if (SUCCESS_LINE.test(line)) callStack.pop();
    else recordErrorLine(line, callStack);
  }
  return null;
}

function recordErrorLine(line: string, callStack: Pick<LoggedFailure, 'anchor' | 'loggedError'>[]): void {
  const [, name, code, message] = ANCHOR_ERROR_LINE.exec(line) ?? [];
  const [, errorText] = ERROR_LINE.exec(line) ?? [];
  const top = callStack.pop();
  if (top === undefined) return;
  if (name !== undefined && message !== undefined)
    callStack.push({ ...top, anchor: { name, code: Number(code), message: toPrintableLine(message) } });
  else callStack.push(errorText === undefined ? top : { ...top, loggedError: toPrintableLine(errorText) });
}

/** Returns at most one line of printable text: a program may log anything. */
function toPrintableLine(text: string): string {
  const line = text
    .slice(0, MAX_TEXT_LENGTH)
    .replace(/[^\p{L}\p{N}\p{P}\p{S} ]+/gu, ' ')
    .replace(/ +/g, ' ');
  return line.slice(0, 120).trim().replace(/\.$/, '');
}
