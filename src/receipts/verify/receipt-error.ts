/** Why a body is not the proof that was asked for, in the order in which it is examined. */
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

/** Thrown for a body that must not be believed. */
export class ReceiptError extends Error {
  override readonly name = 'ReceiptError';
  readonly code: ReceiptFault;

  constructor(code: ReceiptFault) {
    super(`the receipt does not hold: ${code}`);
    this.code = code;
  }
}

/** Throws the fault unless something holds. */
export function ensure(condition: boolean, fault: ReceiptFault): asserts condition {
  if (!condition) throw new ReceiptError(fault);
}
