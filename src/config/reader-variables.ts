/** Variables of the commands that read a gateway, which are no settings of one: whom to read, and what key to trust. */
export const URL_VARIABLE = 'SLOTGATE_URL';
export const PUBLIC_KEY_VARIABLE = 'SLOTGATE_PUBLIC_KEY';

export const isReaderVariable = (name: string): boolean => name === URL_VARIABLE || name === PUBLIC_KEY_VARIABLE;
