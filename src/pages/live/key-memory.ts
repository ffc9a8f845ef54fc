export interface KeyStore {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
}

const nameOf = (cluster: string): string => `slotgate.key.${cluster}`;

/** The key of the gateway as this browser first saw it, by cluster: another one must be signed for, or accepted. */
export class KeyMemory {
  readonly #store: KeyStore;

  constructor(store: KeyStore) {
    this.#store = store;
  }

  keyOf(cluster: string): string | undefined {
    try {
      return this.#store.getItem(nameOf(cluster)) ?? undefined;
    } catch {
      return undefined;
    }
  }

  remember(cluster: string, publicKey: string): void {
    try {
      this.#store.setItem(nameOf(cluster), publicKey);
    } catch {
      // then the key counts for as long as the page is open
    }
  }
}
