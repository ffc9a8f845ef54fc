import bs58 from 'bs58';

/** Returns the bytes of a base58 address as Latin-1 text, as feeds name accounts here. */
export const keyOfAddress = (address: string): string => Buffer.from(bs58.decode(address)).toString('latin1');
