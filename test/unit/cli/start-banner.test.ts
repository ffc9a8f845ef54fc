import { stripVTControlCharacters } from 'node:util';
import t from 'tap';
import type { RunningGateway } from '../../../src/cli/run-process.ts';
import { formatBanner } from '../../../src/cli/start-banner.ts';

const MAINNET = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const gateway: RunningGateway = {
  url: 'http://127.0.0.1:8787',
  cluster: MAINNET,
  embedded: null,
  admin: 'http://127.0.0.1:8788',
  publicKey: '8Tzxqy7nJ3fSPu3yYxdpKuc147dw2N9d5eykt4UspVA5',
  receiptKeyPath: '.slotgate/receipt-key.pem',
  signsAlone: true,
  nodes: () => [
    { id: 'rpc-1', status: 'ok', behindSlots: 0 },
    { id: 'rpc-2', status: 'behind', behindSlots: 12 },
  ],
  reload() {},
  close: async () => {},
};
const facts = { version: '1.2.3', startMs: 912, pages: ['/', '/docs'] };
const plain = (changes: Partial<RunningGateway> = {}): string =>
  stripVTControlCharacters(formatBanner({ ...gateway, ...changes }, facts));

t.test('a banner tells where to go, of which cluster, with which nodes and key', async (t) => {
  t.equal(
    plain(),
    `slotgate 1.2.3   mainnet-beta 5eyk..2N9d   ready in 0.9 s
API     http://127.0.0.1:8787/api/v1    Pages   / /docs
Admin   http://127.0.0.1:8788/metrics   Nodes   rpc-1 ok, rpc-2 12 behind
Key     8Tzx..pVA5, .slotgate/receipt-key.pem, exact

`,
  );
});

t.test('it tells of what is missing, and of the embedded cluster', async (t) => {
  const text = plain({ cluster: null, admin: null, receiptKeyPath: null, signsAlone: false });
  t.match(text, /no node reached yet/);
  t.match(text, /Key +8Tzx\.\.pVA5, inline, observed/);
  t.notMatch(text, /Admin/);
  t.match(plain({ embedded: { rpc: 'http://127.0.0.1:8899' } }), /Cluster http:\/\/127\.0\.0\.1:8899 /);
});
