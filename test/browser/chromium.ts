import { chromium, type Page } from 'playwright-core';
import type { Test } from 'tap';

/** Nothing but what a test asks for may go over the network. */
const WITHOUT_BACKGROUND_TRAFFIC = [
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A tab of a real browser, and what went wrong in it. */
export interface Tab {
  readonly page: Page;
  /** Exceptions, and whatever the browser wrote to its console as an error: a blocked script or request too. */
  readonly problems: readonly string[];
}

/**
 * Opens a tab in a fresh profile of the Chromium that `$CHROMIUM` names (`.ci/with-chromium` does), and closes the
 * browser when the test ends. Call it once per test: nothing is left over from another.
 */
export async function openTab(t: Test): Promise<Tab> {
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--disable-gpu', ...WITHOUT_BACKGROUND_TRAFFIC],
    chromiumSandbox: false, // root, as in a container, can't have one
  });
  t.teardown(() => browser.close());
  const page = await browser.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  return { page, problems };
}
