/** A document that never changes while the process runs, in every content coding. */
export interface EncodedDocument {
  readonly identity: Buffer;
  readonly br: Buffer;
  readonly gzip: Buffer;
  /** The identifier of the content: hex digits. */
  readonly etag: string;
}
