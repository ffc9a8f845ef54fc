/** Returns the element of the page with this id. Throws if the page has none. */
export function elementById<T extends Element>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new TypeError(`the page has no ${id}`);
}

export type Child = Node | string | null | undefined | false;

/** Leaves out what there is not. */
export const present = (children: readonly Child[]): (Node | string)[] =>
  children.filter((child) => child !== null && child !== undefined && child !== false);

/** Creates an element. Text is never parsed as HTML. */
export function create<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const created = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) created.setAttribute(name, value);
  created.append(...present(children));
  return created;
}

/** Sets a text, if it is another one: what is equal is neither laid out nor painted again. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
