/** The forms of what can be searched by its id. */
export const ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
export const SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{86,88}$/;
export const SLOT = /^\d{1,15}$/;
