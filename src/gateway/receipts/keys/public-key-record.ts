import type { ReceiptKey } from './key-ring.ts';

type PublicKeyRecord = Pick<ReceiptKey, 'publicKey' | 'notBeforeMs' | 'succession'>;

const GRAMMAR =
  /^\{"publicKey":"([1-9A-HJ-NP-Za-km-z]{32,44})","notBefore":(0|[1-9]\d{0,15}),"succession":(?:null|\{"kid":"([0-9a-f]{16})","sig":"([0-9a-f]{128})"\})\}\n$/;

export const formatPublicKeyRecord = ({ publicKey, notBeforeMs, succession }: PublicKeyRecord): string =>
  `{"publicKey":"${publicKey}","notBefore":${notBeforeMs},"succession":${
    succession === null ? 'null' : `{"kid":"${succession.kid}","sig":"${succession.sig}"}`
  }}\n`;

/** Parses the output of {@link formatPublicKeyRecord}; returns undefined for any other text. */
export function parsePublicKeyRecord(text: string): PublicKeyRecord | undefined {
  const [, publicKey, notBefore, kid, sig] = GRAMMAR.exec(text) ?? [];
  if (publicKey === undefined) return undefined;
  const succession = kid === undefined || sig === undefined ? null : { kid, sig };
  return { publicKey, notBeforeMs: Number(notBefore), succession };
}
