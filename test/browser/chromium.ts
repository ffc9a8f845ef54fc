import { type Browser, chromium, type Page } from 'playwright-core';
import root, { type Test } from 'tap';

/** Flags that disable the browser's own network traffic. */
const WITHOUT_BACKGROUND_TRAFFIC = [
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export interface Tab {
  readonly page: Page;
  /** Exceptions and console errors, blocked scripts and requests included; not answers of status 503 and 504. */
  readonly problems: readonly string[];
}

export async function openTab(t: Test): Promise<Tab> {
  const [tab] = await openTabs(t, 1);
  if (tab === undefined) throw new Error('no tab');
  return tab;
}

/** The Chromium in `$CHROMIUM` (set by `.ci/with-chromium`): a start costs as much CPU as most tests do. */
let launched: Promise<Browser> | undefined;

function launch(): Promise<Browser> {
  root.teardown(async () => (await launched)?.close());
  return chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--disable-gpu', ...WITHOUT_BACKGROUND_TRAFFIC],
    chromiumSandbox: false, // root can't have a sandbox in a container
  });
}

/**
 * Opens tabs in a fresh profile, which is closed when the test ends. To be called once per test, so that nothing is left
 * from another.
 */
export async function openTabs(t: Test, count: number): Promise<readonly Tab[]> {
  launched ??= launch();
  const profile = await (await launched).newContext();
  t.teardown(() => profile.close());
  profile.setDefaultTimeout(120_000); // of milliseconds, on a busy machine
  const tabs: Tab[] = [];
  while (tabs.length < count) tabs.push(watched(await profile.newPage()));
  return tabs;
}

/** What a gateway answers whose nodes fall behind on a busy machine. */
const BUSY = /status of 50[34]/;

function watched(page: Page): Tab {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !BUSY.test(message.text())) problems.push(message.text());
  });
  return { page, problems };
}
