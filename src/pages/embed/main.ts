// The widget alone, for pages that may add a frame but no script. The query has its attributes.
const ATTRIBUTES: ReadonlySet<string> = new Set(['fields', 'theme', 'size', 'interval', 'label', 'lang']);

const widget = document.querySelector('slotgate-status');
for (const [name, value] of new URLSearchParams(location.search))
  if (ATTRIBUTES.has(name)) widget?.setAttribute(name, value);
