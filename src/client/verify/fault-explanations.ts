/**
 * The reasons to reject a receipt, in the order of the checks, each with its explanation for a reader who does not know the
 * receipt format.
 */
export const FAULT_EXPLANATIONS = {
  utf8: 'The text is not what was sent: it is not UTF-8.',
  envelope: 'This is not a complete answer: {"result":…,"slot":…,"receipt":{…}}, byte for byte as it was sent.',
  malformed: 'The receipt does not have the form of a receipt: it was changed, truncated or reformatted.',
  digest: 'The result is not the signed one: it was changed or reformatted.',
  status: 'The receipt is about a request that failed.',
  cluster: 'The answer is about another cluster than yours.',
  request: 'The answer is to another request than yours.',
  nonce: 'The answer was made for another nonce than yours.',
  'unknown-key': 'The answer is signed with another key than the one you trust.',
  'weak-key': 'The owner of this key can deny every signature: it proves nothing.',
  path: 'The receipt does not lead to the signed batch: its index or path was changed.',
  signature: 'The signature is of something else: the receipt was changed after it was signed.',
  future: 'The receipt was issued in the future, or your clock is behind.',
  stale: 'The receipt is older than you allow, or your clock is ahead.',
  'old-slot': 'The slot is older than you allow.',
  chain: 'This event does not follow the one before it: one is missing, doubled or in another place.',
  agreed: 'Fewer operators than you require gave this result.',
};
