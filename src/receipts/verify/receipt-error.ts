/** The reasons to reject a receipt, in the order of the checks. */
export type ReceiptFault =
  | 'utf8'
  | 'envelope'
  | 'malformed'
  | 'digest'
  | 'status'
  | 'cluster'
  | 'request'
  | 'nonce'
  | 'unknown-key'
  | 'weak-key'
  | 'path'
  | 'signature'
  | 'future'
  | 'stale'
  | 'old-slot';

/** Thrown for a body that must not be trusted. */
export class ReceiptError extends Error {
  override readonly name = 'ReceiptError';
  readonly code: ReceiptFault;

  constructor(code: ReceiptFault, detail?: string) {
    super(`the receipt is not valid: ${code}${detail === undefined ? '' : ` (${detail})`}`);
    this.code = code;
  }
}

/** Throws the fault unless the condition holds. */
export function ensure(condition: boolean, fault: ReceiptFault): asserts condition {
  if (!condition) throw new ReceiptError(fault);
}
