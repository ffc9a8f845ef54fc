import { setPriority } from 'node:os';
import { listen } from './listen.ts';

// Forked: listeners of a stream who look at nothing, and get out of the way of whoever does. Told a number, it opens so
// many more and says when they listen. argv: URL.

const [url = ''] = process.argv.slice(2);
setPriority(19);
process.on('disconnect', () => process.exit());
process.on('message', async (count) => {
  for (let i = 0; i < Number(count); i++) await listen(url, () => {});
  process.send?.('listening');
});
