import t from 'tap';
import { openTab } from './chromium.ts';

t.test('a tab reports its errors', async (t) => {
  const { page, problems } = await openTab(t);
  await page.setContent('<title>well</title>');
  t.equal(await page.title(), 'well');
  t.same(problems, []);
  await page.setContent('<script>throw new Error("ill")</script>');
  t.match(problems, ['Error: ill']);
});
