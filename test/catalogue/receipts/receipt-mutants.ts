import fc from 'fast-check';
import { isOpensslSignature } from '../../../src/cli/commands/openssl-signature.ts';
import { parseReceipt } from '../../../src/client/verify/receipt.ts';
import { ReceiptError, type ReceiptFault } from '../../../src/client/verify/receipt-error.ts';
import { canonicalRequestLine } from '../../../src/client/verify/request-line.ts';
import { receiptTextIn } from '../../../src/client/verify/signed-body.ts';
import { createVerifier, type Expected } from '../../../src/client/verify/verify-receipt.ts';
import { CLUSTER, newSigner, sealAnswers, type UnsealedAnswer } from '../../support/receipts/sealed-answers.ts';
import { mutations } from './receipt-mutations.ts';

const signer = newSigner();

/** Answers that differ in everything, so that parts of one are well formed in another. */
const honestAnswers: readonly UnsealedAnswer[] = Array.from({ length: 6 }, (_, n) => ({
  request: `GET /api/v1/balance/${n}${n % 2 ? '?commitment=finalized' : ''}`,
  slot: 40 + n,
  commitment: n % 2 ? 'finalized' : 'confirmed',
  claim: n % 3 ? 'observed' : 'exact',
  nonce: n < 3 ? null : `${n}`.repeat(22),
  result: n === 5 ? '{"text":"☃ {\\"slot\\":1,\\"receipt\\":{"}' : `{"lamports":${9007199254740990 + n}}`,
}));

/** Sealed alone, in batches of two and of six: the same answers under other signatures. */
const honestBodies: ReadonlySet<string> = new Set([
  ...honestAnswers.flatMap((answer, n) => sealAnswers(signer, [answer], 1_000 + n)),
  ...sealAnswers(signer, honestAnswers.slice(0, 2), 2_000),
  ...sealAnswers(signer, honestAnswers, 3_000),
]);

const verify = createVerifier({ isSignature: isOpensslSignature });
for (const body of honestBodies) verify(body, expectationOf(body)); // so that the cache is under attack too

/**
 * Returns the expectations that fit the body itself: the strongest mutant is one that only its signature can refuse.
 */
function expectationOf(body: string): Expected {
  const receipt = parseReceipt(receiptTextIn(body));
  const { cluster = CLUSTER, request = '', nonce = null } = receipt ?? {};
  return { publicKeys: [signer.publicKey], cluster, request: isValidRequest(request) ? request : OTHER, nonce };
}

const OTHER = 'GET /api/v1/slot';

/** Whether a request has a valid form; expecting another one is an error of the verifier's user. */
function isValidRequest(request: string): boolean {
  try {
    return canonicalRequestLine(request) !== '';
  } catch {
    return false;
  }
}

const body = fc.constantFrom(...honestBodies);
const mutant = fc
  .tuple(body, fc.array(mutations(body), { minLength: 1, maxLength: 3 }))
  .map(([body, harms]) => harms.reduce((harmed, mutate) => mutate(harmed), body));

/**
 * Throws if one of the mutants of honest bodies is accepted. Returns the number of each fault; a mutant that equals an
 * honest body does not count.
 */
export function rejectMutants(chosen: Pick<fc.Parameters, 'numRuns' | 'seed'>): ReadonlyMap<ReceiptFault, number> {
  const faults = new Map<ReceiptFault, number>();
  fc.assert(
    fc.property(mutant, (body) => {
      if (honestBodies.has(body)) return true;
      try {
        verify(body, expectationOf(body));
        return false;
      } catch (thrown) {
        if (!(thrown instanceof ReceiptError)) throw thrown;
        faults.set(thrown.code, (faults.get(thrown.code) ?? 0) + 1);
        return true;
      }
    }),
    chosen,
  );
  return faults;
}
