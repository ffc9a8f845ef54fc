import type { Entry } from '../../cache/entry.ts';
import type { NetworkSnapshot } from '../../domain/network-snapshot.ts';
import type { Sealer } from '../../serving/seal.ts';
import { packFrame } from './pack-frame.ts';

export type Format = 'json' | 'msgpack';

/** What a frame is sent as. */
export interface Form {
  readonly format: Format;
  /** What its receipt says was asked for; undefined for one without. */
  readonly request: string | undefined;
}

/** One frame in all the forms that are asked for, each made once. */
export class Frames {
  readonly #entry: Entry;
  readonly #snapshot: NetworkSnapshot;
  readonly #sealer: Sealer;
  readonly #signed = new Map<string, string>();
  readonly #text: Buffer;
  #packed: Buffer | undefined;

  constructor(entry: Entry, snapshot: NetworkSnapshot, sealer: Sealer) {
    this.#entry = entry;
    this.#snapshot = snapshot;
    this.#sealer = sealer;
    this.#text = Buffer.from(entry.body ?? '');
  }

  /** Makes those with receipts, all under one signature. */
  sign(forms: readonly Form[]): void {
    const requests = forms.flatMap(({ request }) => request ?? []);
    if (requests.length === 0) return;
    const frames = this.#sealer.sealFrame(this.#entry, requests);
    requests.forEach((request, i) => {
      this.#signed.set(request, frames[i] ?? ''); // one for each
    });
  }

  of(form: Form): string | Buffer {
    const { format, request } = form;
    if (format === 'msgpack') {
      this.#packed ??= packFrame(this.#snapshot);
      return this.#packed;
    }
    if (request === undefined) return this.#text;
    if (!this.#signed.has(request)) this.sign([form]);
    return this.#signed.get(request) ?? '';
  }
}
