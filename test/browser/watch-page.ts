import axe from 'axe-core';
import type { Locator, Page } from 'playwright-core';
import { waitFor as waitForShort } from '../support/harness.ts';

/** The longest pause between two looks at a page: each costs it, the browser and the test a millisecond or more. */
const PAUSE_MS = 60;

/** Waits for what a page shows. */
export const waitFor = (condition: () => boolean | Promise<boolean>, description?: string): Promise<void> =>
  waitForShort(condition, description, undefined, PAUSE_MS);

/** Waits until an expression is true on the page. It is evaluated from outside, as the page's policy forbids that inside. */
export const until = (page: Page, expression: string): Promise<void> =>
  waitFor(async () => (await page.evaluate(expression)) === true, expression);

/** Has the page count its layout shifts from the start on. */
export async function countLayoutShifts(page: Page): Promise<void> {
  await page.addInitScript(`
    window.shifted = 0;
    window.shiftedBy = [];
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput, sources } of list.getEntries()) {
        if (hadRecentInput) continue;
        window.shifted += value;
        const place = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(' ');
        const nameOf = (node) => node?.ariaLabel || node?.id || node?.className || node?.nodeName;
        window.shiftedBy.push(...sources.map(({ node, previousRect, currentRect }) =>
          nameOf(node) + ': ' + place(previousRect) + ' > ' + place(currentRect)));
      }
    }).observe({ type: 'layout-shift', buffered: true });`);
}

/** Returns what has moved on the page by itself: nothing should. */
export const shiftedElements = (page: Page): Promise<readonly string[]> =>
  page.evaluate('window.shifted > 0.0005 ? window.shiftedBy : []') as Promise<readonly string[]>;

/** Waits for what a page shows; has parts that failed load again, as the nodes of a busy machine fall behind. */
export async function untilShown(locator: Locator): Promise<Locator> {
  const again = locator.page().locator('.part button:text("Try again")').first();
  await waitFor(async () => {
    if (await again.isVisible()) await again.click({ timeout: 2000 }).catch(() => {}); // it may have gone
    return locator.first().isVisible();
  }, String(locator));
  return locator.first();
}

/** Returns the violations of all rules of axe, or of some, each with the elements that it is about. */
export async function accessibilityViolations(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  // by the debugger, which the policy of the page does not bind
  const session = await page.context().newCDPSession(page);
  const known = await session.send('Runtime.evaluate', { expression: 'typeof axe' });
  if (known.result.value === 'undefined') await session.send('Runtime.evaluate', { expression: axe.source });
  const { result } = await session.send('Runtime.evaluate', {
    expression: `axe.run(${JSON.stringify({ runOnly: rules })}).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 120)).join(' ')))`,
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  return result.value ?? ['axe did not run'];
}

export interface Sockets {
  readonly opened: number;
  readonly closed: number;
}

/** Counts the WebSockets that the page opens and that close, from now on. */
export function countSockets(page: Page): Sockets {
  const sockets = { opened: 0, closed: 0 };
  page.on('websocket', (socket) => {
    sockets.opened++;
    socket.on('close', () => sockets.closed++);
  });
  return sockets;
}

/**
 * Sets the date of a page, whose clock is installed and was put forward, to the real one: by it the page sees how old the
 * receipts of the gateway are, whose time has not passed.
 */
export const restoreDate = (page: Page): Promise<void> => page.clock.setSystemTime(Date.now());

/** Sets whether a page is hidden, as far as it knows. */
export const setHidden = (page: Page, hidden: boolean): Promise<unknown> =>
  page.evaluate(`
    Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));`);

/**
 * Hides the page for two minutes of its own clock, which must be installed; returns once it is seen again. Fails unless
 * its WebSocket closes after the first minute, no sooner, and another one is opened only then.
 */
export async function hideForTwoMinutes(page: Page, sockets: Sockets): Promise<void> {
  const { opened, closed } = sockets;
  const expect = (change: number, when: string): void => {
    if (sockets.opened !== opened || sockets.closed !== closed + change)
      throw new Error(`${when}: ${JSON.stringify(sockets)}`);
  };
  await setHidden(page, true);
  await page.waitForTimeout(300);
  expect(0, 'just hidden');
  await page.clock.fastForward(60_000);
  await waitFor(() => sockets.closed > closed, 'the close');
  await page.clock.fastForward(60_000);
  await page.waitForTimeout(300);
  expect(1, 'hidden for two minutes');
  await restoreDate(page);
  await setHidden(page, false);
  await waitFor(() => sockets.opened === opened + 1, 'another connection');
}
