export { isStrongKey, isStrongSignature } from './ed25519-signature.ts';
export { chainDigest, EventChain } from './event-chain.ts';
export { FAULT_EXPLANATIONS } from './fault-explanations.ts';
export { bodyText, parseSignedBody } from './parse-signed-body.ts';
export { answerInFrame, formatPushFrame, parsePushFrame, stateBeforeIn } from './push-frame.ts';
export { formatReceipt, type Receipt } from './receipt.ts';
export { ReceiptError, type ReceiptFault } from './receipt-error.ts';
export { canonicalRequestLine } from './request-line.ts';
export type { SignatureCheck } from './signature-backend.ts';
export { formatSignedBody, receiptTextIn, resultTextIn, signedBodyFrame } from './signed-body.ts';
export {
  agreedIn,
  type Claim,
  FIRST_CLAIM_NUMBER,
  formatStatement,
  isNonce,
  type Statement,
  treeHeadText,
  versionOf,
} from './statement.ts';
export { isSuccession, type Succession, successionText } from './succession.ts';
export { parseTrustedKey } from './trusted-key.ts';
export { createVerifier, type Expected, type Verified, verifyReceipt } from './verify-receipt.ts';
