import t from 'tap';
import { redactedOrigin, redactor } from '../../../../src/upstream/rpc/redact.ts';

const redact = redactor({
  id: 'node-1',
  url: 'https://user:pa%24%24word@cool-name.provider.pro/t0k3n-abc/?api-key=k3y-1234',
  wsUrl: 'wss://cool-name.provider.pro/t0k3n-abc',
  headers: { authorization: 'Bearer s3cr3t-xyz' },
});

t.test('ordinary error messages stay as they are', async (t) => {
  const messages = [
    'Invalid param: WrongSize',
    'Method does not support commitment below `confirmed`',
    'lastSlot, 912, cannot be less than firstSlot, 1911',
    'Invalid params: invalid type: string "x", expected u64.',
    'Invalid params: unknown variant `utf8`, expected one of `binary`, `base58`, `base64`, `jsonParsed`, `base64+zstd`.',
    'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.',
    'Transaction 1111111111111111111111111111111111111111111111111111111111111111 not found',
    'Transaction version (0) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": 0',
  ];
  for (const text of messages) t.equal(redact(text), text);
});

t.test('addresses and keys of a node are redacted', async (t) => {
  const redacted: Record<string, string> = {
    'see https://docs.example.com/limits for more': 'see … for more',
    'upstream 10.0.0.7:8899 refused': 'upstream … refused',
    'no route to backend-3.eu.example.com today': 'no route to … today',
    'bad path /x?token=1': 'bad path …',
    'wrong key: k3y-1234.': 'wrong key: …',
    'wrong token t0k3n-abc': 'wrong token …',
    'header s3cr3t-xyz is too old': 'header … is too old',
    'user:pa$$word': '…',
    'two\nlines\u0000and\ta tab': 'two lines and a tab',
  };
  for (const [text, left] of Object.entries(redacted)) t.equal(redact(text), left);
});

t.test('however long a text is, the result is short and holds no piece of a key', async (t) => {
  t.equal(redact('word '.repeat(1000)).length, 300);
  for (let n = 980; n < 1010; n++) t.notMatch(redact(`${' '.repeat(n)}k3y-1234`), 'k3y');
  t.equal(redact('&'.repeat(1e6)), '');
});

t.test('of a URL only what holds no key is shown', async (t) => {
  const shown: Record<string, string> = {
    'http://127.0.0.1:8899': 'http://127.0.0.1:8899',
    'https://user:pa%24%24word@cool-name.provider.pro/t0k3n-abc/?api-key=k3y-1234': 'https://….provider.pro',
    'https://api.mainnet-beta.solana.com': 'https://….solana.com',
    'wss://provider.pro:444/t0k3n-abc': 'wss://provider.pro:444',
    'http://localhost:8899/': 'http://localhost:8899',
    'ws://[::1]:8900/x': 'ws://[::1]:8900',
  };
  for (const [url, redacted] of Object.entries(shown)) t.equal(redactedOrigin(url), redacted);
});
