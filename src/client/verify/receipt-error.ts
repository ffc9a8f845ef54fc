import type { FAULT_EXPLANATIONS } from './fault-explanations.ts';

/** A reason to reject a receipt. */
export type ReceiptFault = keyof typeof FAULT_EXPLANATIONS;

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
