import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import {
  answerInFrame,
  bodyText,
  createVerifier,
  EventChain,
  FAULT_EXPLANATIONS,
  parsePushFrame,
  ReceiptError,
  type ReceiptFault,
  stateBeforeIn,
  type Verified,
} from '../../client/verify/index.ts';
import type { Clock } from '../../shared/domain/clock.ts';
import { reasonOf } from '../../shared/domain/reason-of.ts';
import { StartError } from '../../shared/domain/start-error.ts';
import { visibleText } from '../../shared/domain/visible-text.ts';
import { systemClock } from '../../shared/runtime/system-clock.ts';
import { Progress } from '../terminal/progress.ts';
import { type ByteStream, readLines, readWhole } from './answer-input.ts';
import { examples } from './examples.ts';
import { isOpensslSignature } from './openssl-signature.ts';
import { genesisHash, nonce, operatorCount, publicKey, repeatable, request, seconds } from './receipt-option-values.ts';

/** The options of the command, which are the facts that the verifier knows. */
interface VerifyFlags {
  readonly publicKey: readonly string[];
  readonly cluster: string;
  readonly request: readonly string[];
  readonly nonce?: string;
  /** Maximum age of a receipt, in seconds. */
  readonly maxAge?: number;
  /** The fewest operators that must have given the result. */
  readonly minAgreed?: number;
  readonly ndjson?: true;
  readonly chain?: true;
}

/** Verifies a message. Throws a ReceiptError if it proves nothing. */
type VerifyMessage = (message: Uint8Array) => Verified;

/** Declares `verify`, the verifier for a shell. It exits with 1 and the reason if an answer is not valid. */
export function declareReceiptVerify(verify: Command): void {
  verify
    .description('verify that the owner of a key gave this answer to this request; prints the signed result')
    .argument('[file]', 'the body of an answer; - for standard input', '-')
    .requiredOption('--public-key <base58>', 'a trusted key; may be repeated', repeatable(publicKey))
    .requiredOption('--cluster <base58>', 'the genesis hash of the requested cluster', genesisHash)
    .requiredOption('--request <request>', 'the request: "GET /api/v1/…"; may be repeated', repeatable(request))
    .option('--nonce <nonce>', 'the nonce sent as x-receipt-nonce', nonce)
    .option('--max-age <seconds>', 'the maximum age of a receipt; without it the age is not checked', seconds)
    .option('--min-agreed <operators>', 'the fewest operators that must have given the result', operatorCount)
    .option('--ndjson', 'each line is a frame ("SUB /api/v1/stream?receipts=1"), an account push or a body')
    .option('--chain', 'the lines are events, as a stream sent them: refuses one that does not follow the one before')
    .addHelpText(
      'after',
      examples(
        'curl -s URL/api/v1/slot | slotgate receipt verify --public-key KEY --cluster GENESIS --request "GET /api/v1/slot"',
        'slotgate receipt verify --ndjson frames.ndjson --public-key KEY --cluster GENESIS --request "SUB /api/v1/stream?receipts=1"',
      ),
    )
    .action(async (file: string, flags: VerifyFlags) => {
      const verify = verifierFor(flags, systemClock);
      const input = openInput(file);
      if (flags.chain) await verifyLines(eventLines(input), chained(verify), 'event');
      else await (flags.ndjson ? verifyLines(readLines(input), verify, 'line') : verifyWhole(input, verify));
    });
}

/** Opens the input. A file that can't be read is a usage error and says nothing about a receipt. */
async function* openInput(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* file === '-' ? process.stdin : createReadStream(file);
  } catch (thrown) {
    throw new StartError(64, `can't read ${file === '-' ? 'the standard input' : file}: ${reasonOf(thrown)}`);
  }
}

function verifierFor(
  { publicKey: publicKeys, cluster, request, nonce, maxAge, minAgreed }: VerifyFlags,
  clock: Clock,
): VerifyMessage {
  const expected = { publicKeys, cluster, nonce: nonce ?? null, ...(minAgreed !== undefined && { minAgreed }) };
  const verify = createVerifier({ isSignature: isOpensslSignature });
  return (message) => {
    const body = answerInFrame(bodyText(message));
    const time = maxAge === undefined ? {} : { time: { nowMs: clock.now(), maxAgeMs: maxAge * 1000 } };
    let requestFault: unknown;
    for (const expectedRequest of request) {
      try {
        return verify(body, { ...expected, ...time, request: expectedRequest });
      } catch (thrown) {
        if (faultCodeOf(thrown) !== 'request') throw thrown;
        requestFault = thrown;
      }
    }
    throw requestFault;
  };
}

const DATA = Buffer.from('data: ');
const OPENING_BRACE = 0x7b;

/** Yields the events in what a stream has sent: the JSON in its lines, behind `data: ` in Server-Sent Events, or what is cut off of it. */
async function* eventLines(input: ByteStream): AsyncGenerator<Uint8Array> {
  for await (const line of readLines(input)) {
    const isField = DATA.equals(line.subarray(0, DATA.length));
    const message = isField ? line.subarray(DATA.length) : line;
    if (message[0] === OPENING_BRACE && !isOtherJson(message)) yield message;
  }
}

/** Returns true for JSON that is no event. What is not JSON, or no text at all, may have been one. */
function isOtherJson(message: Uint8Array): boolean {
  try {
    const text = bodyText(message);
    if (parsePushFrame(text) !== undefined) return false;
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns a verifier of the events of several topics, each of which must follow the one before it of its topic. */
function chained(verify: VerifyMessage): VerifyMessage {
  const chains = new Map<string, EventChain>();
  return (message) => {
    const verified = verify(message);
    const { request, commitment } = verified.receipt;
    const chain = chains.get(`${commitment} ${request}`) ?? new EventChain();
    chains.set(`${commitment} ${request}`, chain);
    chain.add(verified.receipt, stateBeforeIn(parsePushFrame(bodyText(message))?.metadata ?? ''));
    return verified;
  };
}

/** Returns the code of a ReceiptError; rethrows any other error. */
function faultCodeOf(thrown: unknown): ReceiptFault {
  if (thrown instanceof ReceiptError) return thrown.code;
  throw thrown;
}

/** A pipe gets the bytes that were signed. */
const shown = (result: string): string => (process.stdout.isTTY ? visibleText(result) : result);

async function verifyWhole(input: ByteStream, verify: VerifyMessage): Promise<void> {
  const body = await readWhole(input);
  try {
    const { result, receipt } = verify(body);
    process.stdout.write(`${shown(result)}\n`);
    if (receipt.agreed !== undefined)
      process.stderr.write(`confirmed by ${receipt.agreed.replace('/', ' of ')} operators\n`);
  } catch (thrown) {
    const fault = faultCodeOf(thrown);
    throw new StartError(1, `the receipt is not valid: ${fault}. ${FAULT_EXPLANATIONS[fault]}`);
  }
}

/** Verifies line by line and prints a result for each as it arrives. */
async function verifyLines(messages: AsyncIterable<Uint8Array>, verify: VerifyMessage, what: string): Promise<void> {
  let lines = 0;
  let invalid = 0;
  const progress = new Progress({ output: process.stderr, clock: systemClock, what: 'verifying' });
  for await (const line of messages) {
    lines++;
    progress.advance();
    try {
      const { result, slot, receipt } = verify(line);
      const agreed = receipt.agreed === undefined ? '' : `"agreed":"${receipt.agreed}",`;
      if (process.stdout.isTTY) progress.end(); // the line is drawn where results are
      process.stdout.write(
        `{"valid":true,"request":"${receipt.request}","slot":${slot},${agreed}"result":${shown(result)}}\n`,
      );
    } catch (thrown) {
      const fault = faultCodeOf(thrown);
      invalid++;
      process.stdout.write(`{"valid":false,"fault":"${fault}"}\n`);
      process.stderr.write(`${what} ${lines}: ${fault}\n`);
    }
  }
  progress.end();
  if (lines === 0) throw new StartError(1, `the input has no ${what}`);
  if (invalid > 0) throw new StartError(1, `${invalid} of ${lines} ${what}s are not valid`);
}
