import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Admit } from '../../../shared/runtime/fair-semaphore.ts';
import { jsonRpcError, jsonRpcFrame } from '../routing/json-rpc-form.ts';
import type { RequestScope } from '../routing/request-scope.ts';
import type { PostAnswer } from '../routing/route.ts';
import { answerRpcCall, type RpcUses } from './answer-rpc-call.ts';
import type { RpcBatch } from './parse-rpc-call.ts';

/** Errors that a caller should wait for: the whole batch is refused with them. */
const REFUSE_ALL: ReadonlySet<string> = new Set(['rate_limited', 'overloaded', 'internal_error']);

/**
 * Answers the calls of a batch together, in their order. An answer for which there is no room is an error in its place.
 * Rejects with GatewayError, once no call is under way.
 */
export async function answerRpcBatch(
  { calls }: RpcBatch,
  context: RpcUses,
  admit: Admit,
  scope: RequestScope,
): Promise<PostAnswer> {
  const { maxBytes = Number.POSITIVE_INFINITY } = scope;
  const [admitAll, end] = admitTogether(admit);
  let bytes = '['.length;
  const slots: number[] = [];
  let isHit = true;
  const answerOf = async (call: (typeof calls)[number]): Promise<readonly Buffer[]> => {
    if (call instanceof GatewayError) throw call;
    const { result, slot, cacheStatus, jsonRpcId = 'null' } = await answerRpcCall(call, context, admitAll, scope);
    const [before, after] = jsonRpcFrame(jsonRpcId);
    const answer =
      typeof result === 'string'
        ? [Buffer.from(before + result + after)]
        : [Buffer.from(before), result, Buffer.from(after)];
    const length = answer.reduce((sum, part) => sum + part.length, ','.length); // or "]"
    if (bytes + length > maxBytes) throw tooLong(maxBytes).forJsonRpc(jsonRpcId);
    bytes += length;
    isHit &&= cacheStatus === 'HIT';
    if (slot !== undefined) slots.push(slot);
    return answer;
  };
  const refusalOf = (thrown: unknown): readonly Buffer[] => {
    isHit = false;
    return [toErrorText(thrown)];
  };
  const outcomes = await Promise.allSettled(calls.map((call) => answerOf(call).catch(refusalOf)));
  end();
  const answers = outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
  const batch = [...answers.flatMap((answer, i) => [Buffer.from(i === 0 ? '[' : ','), ...answer]), Buffer.from(']')];
  const slot = slots.length > 0 ? { slot: Math.min(...slots) } : {};
  return { ...slot, result: '', batch, cacheStatus: isHit ? 'HIT' : 'MISS' };
}

const tooLong = (maxBytes: number): GatewayError =>
  new GatewayError('result_too_large', `your tier gets at most ${maxBytes} bytes for a batch: send fewer calls in one`);

function toErrorText(thrown: unknown): Buffer {
  const error = GatewayError.from(thrown);
  const { code, message, retryAfter, cause } = error;
  if (REFUSE_ALL.has(code)) throw new GatewayError(code, message, { retryAfter, cause });
  return Buffer.from(jsonRpcError(error.jsonRpcId ?? 'null', error));
}

/** Makes one admission of many: the first that needs the upstream waits for it, and it lasts until the end of all. */
function admitTogether(admit: Admit): readonly [Admit, end: () => void] {
  let end = (): void => {};
  let admitted: Promise<void> | undefined;
  const begin = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const start = (leave: () => void): void => {
        end = leave;
        resolve();
      };
      admit({ start, refuse: reject });
    });
  return [
    (work) => {
      admitted ??= begin();
      admitted.then(() => work.start(() => {})).catch((reason: unknown) => work.refuse(reason));
    },
    () => end(),
  ];
}
