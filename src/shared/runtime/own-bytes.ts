/**
 * Returns bytes with memory of their own, for what is kept. What `Buffer.from` and zlib return may be a part of 8, 16 or 64 KiB,
 * by the version of Node, which stay as long as it does.
 */
export function ownBytes(source: string | Uint8Array): Buffer {
  const own = Buffer.allocUnsafeSlow(Buffer.byteLength(source));
  if (typeof source === 'string') own.write(source);
  else own.set(source);
  return own;
}
