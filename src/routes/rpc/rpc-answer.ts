import type { AnswerMeta } from '../../cache/entry.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Slot } from '../../domain/slot.ts';
import type { Admit, Context, Posted } from '../../routing/route.ts';
import { isBehind, overtaken } from '../../serving/min-slot.ts';
import type { RpcCall } from './rpc-call.ts';
import { questionOf, type RpcQuestion } from './rpc-question.ts';
import { readCall } from './rpc-read.ts';
import { warmAnswer } from './rpc-warm.ts';

/** Of a longer result only the slot is kept. */
const MAX_KEPT = 64 * 1024;

/** Stands for a result that was passed on and not kept. */
const PASSED_ON = '';

/** For how many slots a node's refusal is given again. */
const REFUSAL_SLOTS = 2;

interface Told {
  readonly slot: Slot;
  readonly result: string | Buffer;
}

/** Answers a call at once, or asks the upstream when its turn has come. No answer goes back below an earlier one. */
export async function answerCall(call: RpcCall, context: Context, admit: Admit): Promise<Posted> {
  const { calls } = context;
  const question = questionOf(call);
  const known = freshAnswer(question, context);
  if (known !== undefined) return known;
  const flight = `${question.key} ${question.minSlot}`;
  const join = (): Promise<Posted> => calls.run(flight, () => ask(question, context));
  try {
    return await (calls.has(flight) ? join() : admit(join));
  } catch (thrown) {
    if (isBehind(thrown)) return olderAnswer(question, context, thrown);
    throw thrown;
  }
}

/** What can be told without waiting. May throw its refusal. */
function freshAnswer(question: RpcQuestion, context: Context): Posted | undefined {
  const { cache } = context;
  takeWarm(question, context);
  const entry = cache.get(question.key);
  if (entry === undefined || !cache.isFresh(entry)) return undefined;
  if (entry.refusal !== undefined) throw entry.refusal;
  return entry.slot < question.minSlot ? undefined : { result: entry.result, slot: entry.slot, cache: 'HIT' };
}

/** Takes over what other routes keep warm, where it is newer than what is kept here. */
function takeWarm(question: RpcQuestion, context: Context): void {
  const { cache } = context;
  const { call, key } = question;
  const warm = warmAnswer(call, context);
  if (warm === undefined || warm.slot < floorOf(question, context)) return;
  const shown = cache.peek(key);
  if (shown?.refusal === undefined && shown?.slot === warm.slot && cache.isFresh(shown)) return;
  const result = warm.write();
  if (result !== undefined) keep(question, { slot: warm.slot, result }, context, warm.readAt);
}

async function ask(question: RpcQuestion, context: Context): Promise<Posted> {
  try {
    const posted = (await read(question, context)) ?? (await read(question, context));
    if (posted === undefined) throw overtaken();
    return posted;
  } catch (thrown) {
    const error = GatewayError.from(thrown);
    const isFact = error.code === 'rpc_error' && error.status < 500;
    if (isFact && !isAlwaysAsked(question))
      context.cache.putRefusal(question.key, error, REFUSAL_SLOTS, labelOf(question));
    throw error;
  }
}

/** Reads an answer and keeps it. Undefined when a newer one was given meanwhile. */
async function read(question: RpcQuestion, context: Context): Promise<Posted | undefined> {
  const readAt = context.cache.tip;
  const minSlot = Math.max(floorOf(question, context), question.minSlot);
  const { slot, result } = await readCall(context.mesh, question.call, minSlot);
  if (slot < floorOf(question, context)) return undefined;
  keep(question, { slot, result }, context, readAt);
  return { result, slot, cache: isAlwaysAsked(question) ? 'BYPASS' : 'MISS' };
}

/** When no node is as far as what was told already: that once more, unless it is too old by now. */
function olderAnswer(question: RpcQuestion, context: Context, thrown: unknown): Posted {
  const { cache } = context;
  const { key, commitment, policy, minSlot } = question;
  if (minSlot >= floorOf(question, context)) throw thrown; // it is the caller who has seen more
  const told = cache.peek(key);
  const isKept = told !== undefined && told.refusal === undefined && told.result !== PASSED_ON;
  const mayStillHold = commitment !== 'processed' || policy === 'live'; // what is processed may be taken back
  if (isKept && mayStillHold && cache.statusOf(told) !== 'expired') {
    return { result: told.result, slot: told.slot, cache: 'STALE' };
  }
  throw overtaken(thrown);
}

/** Keeps an answer, or only its slot where the result is long or always asked for. */
function keep(question: RpcQuestion, { slot, result }: Told, { cache }: Context, tipAtFetch: Slot): void {
  const { key, policy } = question;
  const isKept = result.length <= MAX_KEPT && !isAlwaysAsked(question);
  const answer = { slot, result: isKept ? result.toString() : PASSED_ON };
  cache.put(key, answer, isKept ? policy : { slots: 0 }, labelOf(question), { tipAtFetch });
}

const floorOf = ({ key, commitment }: RpcQuestion, { cache }: Context): Slot => cache.floor(key, commitment) ?? 0;

const isAlwaysAsked = ({ policy }: RpcQuestion): boolean => policy !== 'live' && policy.slots === 0;

const labelOf = ({ commitment }: RpcQuestion): AnswerMeta => ({ envelope: 'bare', commitment, exact: false });
