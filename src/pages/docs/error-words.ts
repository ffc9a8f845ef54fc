import { ERRORS, type ErrorCode } from '../../shared/domain/gateway-error.ts';
import { ERROR_REFERENCE } from '../../shared/site/error-reference.ts';

interface ErrorWords {
  readonly code: ErrorCode;
  readonly statuses: string;
  readonly meaning: string;
  readonly fix: string;
  /** Whether the same request may succeed later; undefined where more than the code decides. */
  readonly maySucceed: boolean | undefined;
}

const NOT_FOUND = 404;

/** What the reference says of each error. What is not there may appear, and a node's code decides about its refusal. */
export const ERROR_WORDS: readonly ErrorWords[] = (Object.keys(ERRORS) as ErrorCode[]).map((code) => {
  const { status, retry } = ERRORS[code];
  const isOfNode = code === 'rpc_error';
  const maySucceed = isOfNode || (status === NOT_FOUND && retry === 'no') ? undefined : retry === 'later';
  return { code, statuses: isOfNode ? '400, 404, 502 or 503' : `${status}`, ...ERROR_REFERENCE[code], maySucceed };
});
