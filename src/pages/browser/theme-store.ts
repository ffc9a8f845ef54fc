/** Where the browser keeps the theme that its reader has chosen. */
export const THEME_STORE = 'slotgate.theme';
