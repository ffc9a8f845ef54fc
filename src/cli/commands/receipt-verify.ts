import { createReadStream } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import type { Clock } from '../../domain/clock.ts';
import { StartError } from '../../domain/start-error.ts';
import { answerIn } from '../../receipts/push.ts';
import { askedRequest } from '../../receipts/verify/asked-request.ts';
import { isOpensslSignature } from '../../receipts/verify/openssl-signature.ts';
import { ReceiptError } from '../../receipts/verify/receipt-error.ts';
import { textOf } from '../../receipts/verify/signed-body.ts';
import { trustedKey } from '../../receipts/verify/trusted-key.ts';
import { createVerifier, type Verified } from '../../receipts/verify/verify.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import { type Input, linesOf, wholeOf } from './input.ts';

/** What the command line says that the verifier knows. */
interface Flags {
  readonly publicKey: readonly string[];
  readonly cluster: string;
  readonly request: readonly string[];
  readonly nonce?: string;
  /** In seconds. */
  readonly maxAge?: number;
  readonly ndjson?: true;
}

/** Throws ReceiptError for a message that proves nothing. */
type Check = (message: Uint8Array) => Verified;

/** Adds `verify`: the verifier for a shell. It exits with 1 when an answer does not hold, and says why. */
export function addVerify(receipt: Command): void {
  receipt
    .command('verify')
    .description('check that the holder of a key gave this answer to this request; prints the result that was signed')
    .argument('[file]', 'the body of an answer; - for the standard input', '-')
    .requiredOption('--public-key <base58>', 'a key that you trust; may be repeated', each(publicKey))
    .requiredOption('--cluster <base58>', 'the genesis hash of the cluster that was asked about', genesisHash)
    .requiredOption('--request <request>', 'what was asked: "GET /api/v1/…"; may be repeated', each(request))
    .option('--nonce <nonce>', 'what was sent as x-receipt-nonce', nonce)
    .option('--max-age <seconds>', 'how old a receipt may be; without it the age is not looked at', seconds)
    .option('--ndjson', 'each line is a frame ("SUB /api/v1/stream?receipts=1"), an account push or a body')
    .configureHelp({ showGlobalOptions: false })
    .action(async (file: string, flags: Flags) => {
      const check = checkFor(flags, systemClock);
      const input = readable(file);
      await (flags.ndjson ? verifyLines(input, check) : verifyWhole(input, check));
    });
}

/** A file that can't be read is a mistake of the command line, and says nothing of a receipt. */
async function* readable(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* file === '-' ? process.stdin : createReadStream(file);
  } catch (thrown) {
    throw new StartError(64, thrown instanceof Error ? thrown.message : String(thrown));
  }
}

function checkFor({ publicKey: publicKeys, cluster, request, nonce, maxAge }: Flags, clock: Clock): Check {
  const known = { publicKeys, cluster, nonce: nonce ?? null };
  const verify = createVerifier({ isSignature: isOpensslSignature });
  return (message) => {
    const body = answerIn(textOf(message));
    const time = maxAge === undefined ? {} : { time: { nowMs: clock.now(), maxAgeMs: maxAge * 1000 } };
    let otherRequest: unknown;
    for (const asked of request) {
      try {
        return verify(body, { ...known, ...time, request: asked });
      } catch (thrown) {
        if (faultOf(thrown) !== 'request') throw thrown;
        otherRequest = thrown;
      }
    }
    throw otherRequest;
  };
}

/** The code of a fault in a receipt. Throws whatever else was thrown. */
function faultOf(thrown: unknown): string {
  if (thrown instanceof ReceiptError) return thrown.code;
  throw thrown;
}

async function verifyWhole(input: Input, check: Check): Promise<void> {
  const body = await wholeOf(input);
  try {
    process.stdout.write(`${check(body).result}\n`);
  } catch (thrown) {
    throw new StartError(1, `the receipt does not hold: ${faultOf(thrown)}`);
  }
}

/** Says of each line what it is worth, while lines come in. */
async function verifyLines(input: Input, check: Check): Promise<void> {
  let lines = 0;
  let invalid = 0;
  for await (const line of linesOf(input)) {
    lines++;
    try {
      const { result, slot, receipt } = check(line);
      process.stdout.write(`{"valid":true,"request":"${receipt.request}","slot":${slot},"result":${result}}\n`);
    } catch (thrown) {
      const fault = faultOf(thrown);
      invalid++;
      process.stdout.write(`{"valid":false,"fault":"${fault}"}\n`);
      process.stderr.write(`line ${lines}: ${fault}\n`);
    }
  }
  if (lines === 0) throw new StartError(1, 'there was no line');
  if (invalid > 0) throw new StartError(1, `${invalid} of ${lines} lines do not hold`);
}

/** An option that may be repeated. */
const each =
  (read: (text: string) => string) =>
  (text: string, before: readonly string[] = []): readonly string[] => [...before, read(text)];

/** Reads an option, whose mistakes are those of the command line. */
const reader =
  (read: (text: string) => unknown) =>
  (text: string): string => {
    try {
      read(text);
      return text;
    } catch (thrown) {
      throw new InvalidArgumentError(thrown instanceof Error ? thrown.message : String(thrown));
    }
  };

const publicKey = reader(trustedKey);
const request = reader(askedRequest);
const genesisHash = reader((text) => matches(text, /^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'it is no genesis hash'));
const nonce = reader((text) => matches(text, /^[\w-]{16,64}$/, 'a nonce is 16 to 64 letters, digits, - or _'));

function matches(text: string, form: RegExp, otherwise: string): void {
  if (!form.test(text)) throw new InvalidArgumentError(otherwise);
}

function seconds(text: string): number {
  matches(text, /^\d{1,9}$/, 'it is no whole number of seconds');
  return Number(text);
}
