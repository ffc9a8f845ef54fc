/** The failure as reported in a failed transaction's logs. */
export interface LoggedFailure {
  /** The program that failed first: the innermost one, since a failed call can't be caught. */
  readonly programId: string;
  /** The runtime's text after `failed:`. */
  readonly reason: string;
  /** The Anchor error that the program logged before it failed. */
  readonly anchor: AnchorError | null;
  /** The text of the last `Error: …` or of the panic that the program logged. */
  readonly loggedError: string | null;
  /** The last other text that the program logged. */
  readonly lastText: string | null;
  /** The runtime's own words on a transfer that failed: lamports that the sender had and those that it needed. */
  readonly shortOfLamports: { readonly had: bigint; readonly needed: bigint } | null;
  /** The other programs that the failed one had called, each of which succeeded; null if the log lacks the beginning of its call. */
  readonly succeeded: readonly string[] | null;
}

interface AnchorError {
  readonly name: string;
  readonly code: number;
  readonly message: string;
  /** What the program calls the account that the error is about. */
  readonly account: string | null;
}

type LoggedCall = Omit<LoggedFailure, 'programId' | 'reason' | 'succeeded'>;

/** The longest part of a logged text that is read; a sentence quotes less. */
const MAX_TEXT_LENGTH = 256;

// A program's own lines begin with `Program log: ` or `Program data: `, so it can't write those of the runtime.
const INVOKE_LINE = /^Program (\w{32,44}) invoke \[\d+\]$/;
const SUCCESS_LINE = /^Program (\w{32,44}) success$/;
const FAILED_LINE = /^Program (\w{32,44}) failed: (.*)$/s;
const LAMPORTS_LINE = /^Transfer: insufficient lamports (\d{1,20}), need (\d{1,20})$/;
const LOG_LINE = /^Program log: (.*)$/s;
const ANCHOR_ERROR =
  /^AnchorError (?:caused by account: (\w{1,64})\. |.*?)Error Code: (\w{1,64})\. Error Number: (\d{1,10})\. Error Message: (.*)$/s;
const ERROR_TEXT = /^(?:Error: |panicked at [^\n]{1,200}:\d+:\d+:\n)(.*)$/s;

/** What explains nothing: names of instructions, the values of a comparison, numbers, encoded data. */
const NO_WORDS =
  /^(?:Instruction: |Left:|Right:|Custom program error: |\w+: *[\w+/=]{24,}$|[^ ]{32,}$|(?!.*\p{L}{3}))/su;

const NOTHING: LoggedCall = { anchor: null, loggedError: null, lastText: null, shortOfLamports: null };

/** Returns the failure in the logs. Null if no program failed, or if its line is missing: nodes truncate logs. */
export function parseFailureLogs(logs: readonly string[]): LoggedFailure | null {
  const end = logs.findIndex((line) => FAILED_LINE.test(line));
  const [, programId, reason = ''] = FAILED_LINE.exec(logs[end] ?? '') ?? [];
  if (programId === undefined) return null;
  const call = findLastCall(logs.slice(0, end));
  const isWhole = call?.programId === programId;
  const logged = { ...NOTHING };
  for (const line of isWhole ? call.lines : []) Object.assign(logged, readLine(line));
  return { ...logged, succeeded: isWhole ? [...call.succeeded] : null, programId, reason };
}

interface Call {
  readonly programId: string;
  /** What the program itself logged, and the runtime during its call. */
  readonly lines: string[];
  readonly succeeded: Set<string>;
}

/** Finds the call that these lines end in; undefined if none began in them. */
function findLastCall(logs: readonly string[]): Call | undefined {
  const callStack: Call[] = [];
  for (const line of logs) {
    const [, succeeded] = SUCCESS_LINE.exec(line) ?? [];
    const [, programId] = INVOKE_LINE.exec(line) ?? [];
    if (succeeded !== undefined) {
      const ended = callStack.pop();
      const caller = callStack.at(-1);
      const isOwn = ended?.programId === caller?.programId; // an event of Anchor: what it called are the program's calls
      for (const id of isOwn ? (ended?.succeeded ?? []) : [succeeded]) caller?.succeeded.add(id);
    } else if (programId !== undefined) callStack.push({ programId, lines: [], succeeded: new Set() });
    else callStack.at(-1)?.lines.push(line);
  }
  return callStack.at(-1);
}

function readLine(line: string): Partial<LoggedCall> {
  const [, had, needed] = LAMPORTS_LINE.exec(line) ?? [];
  if (had !== undefined && needed !== undefined)
    return { shortOfLamports: { had: BigInt(had), needed: BigInt(needed) } };
  const [, text] = LOG_LINE.exec(line) ?? [];
  if (text === undefined) return {};
  const [, account = null, name, code, message] = ANCHOR_ERROR.exec(text) ?? [];
  if (name !== undefined && message !== undefined)
    return { anchor: { name, code: Number(code), message: beginningOf(message), account } };
  const [, error] = ERROR_TEXT.exec(text) ?? [];
  if (error !== undefined) return { loggedError: beginningOf(error) };
  return NO_WORDS.test(text) ? {} : { lastText: beginningOf(text) };
}

const beginningOf = (text: string): string => text.slice(0, MAX_TEXT_LENGTH).replace(/\.$/, '');
