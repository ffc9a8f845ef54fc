import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Has the page count its layout shifts from the start on. */
export async function countLayoutShifts(page: Page): Promise<void> {
  await page.addInitScript(`
    window.shifted = 0;
    window.shiftedBy = [];
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput, sources } of list.getEntries()) {
        if (hadRecentInput) continue;
        window.shifted += value;
        window.shiftedBy.push(...sources.map(({ node }) => node?.id || node?.className || node?.nodeName));
      }
    }).observe({ type: 'layout-shift', buffered: true });`);
}

/** Returns what has moved on the page by itself: nothing should. */
export const shiftedElements = (page: Page): Promise<readonly string[]> =>
  page.evaluate('window.shifted > 0.0005 ? window.shiftedBy : []') as Promise<readonly string[]>;

/** Returns the violations that axe finds, each with the elements that it is about. */
export async function accessibilityViolations(page: Page): Promise<readonly string[]> {
  // by the debugger, which the policy of the page does not bind
  const session = await page.context().newCDPSession(page);
  await session.send('Runtime.evaluate', { expression: axe.source });
  const { result } = await session.send('Runtime.evaluate', {
    expression: `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 120)).join(' ')))`,
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  return result.value ?? ['axe did not run'];
}
