import { defineStatusElement } from './slotgate-status.ts';

// The script that a gateway serves as /widget.js. A classic script knows its URL, and so its gateway; a module does not.
const script = document.currentScript;
defineStatusElement({
  gateway: script instanceof HTMLScriptElement ? new URL('.', script.src).href : undefined,
});
