import { createHash, createPublicKey, verify } from 'node:crypto'; // verify.mjs KEY GENESIS "GET $URL" [NONCE] < BODY
import { readFileSync } from 'node:fs';
const [key, cluster, url, nonce = null] = process.argv.slice(2);
const refuse = (fault) => (console.error(`refused: ${fault}`), process.exit(1));
const must = (holds, fault) => holds || refuse(fault);
const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();
const body = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(0));
const start = body.lastIndexOf('{'); // a receipt holds no other
let receipt = null;
try {
  receipt = JSON.parse(body.slice(start, -1));
} catch {}
must(receipt !== null && JSON.stringify(receipt) === body.slice(start, -1), 'malformed');
const all = 'v kid cluster request status slot commitment claim agreed digest issuedAt nonce previous size index path sig'.split(' ');
const names = receipt.v === 1 ? all.filter((name) => name !== 'agreed' && name !== 'previous') : all; // of version 2 only
must(Object.keys(receipt).join() === names.join() && [1, 2].includes(receipt.v), 'malformed');
const [gave, read] = (receipt.agreed ?? '1/1').split('/').map(Number); // operators that gave this result, of those read
const isSpelled = /"index":\d+,"path":\[(?:"[\da-f]{64}",?)*],"sig":"[\da-f]{128}"}$/.test(body.slice(start, -1));
must(isSpelled && receipt.previous !== '-' && gave <= read && receipt.index < receipt.size, 'malformed');
const after = `,"slot":${receipt.slot},"receipt":`;
must(body.startsWith('{"result":') && body.slice(0, start).endsWith(after) && body.endsWith('}'), 'envelope');
const result = body.slice('{"result":'.length, start - after.length);
must(sha256(result).toString('hex') === receipt.digest, 'digest');
const expected = [200, cluster, url.replace(/(?<=^GET ).*?(?=\/api\/v1)/, ''), nonce];
must([receipt.status, receipt.cluster, receipt.request, receipt.nonce].join('\n') === expected.join('\n'), 'not what was requested');
const lines = names.slice(2, names.indexOf('size')).map((name) => receipt[name] ?? '-');
let node = sha256('\0', [`proof-of-serve/v${receipt.v}`, key, ...lines, ''].join('\n'));
let [index, last] = [receipt.index, receipt.size - 1];
for (const sibling of receipt.path.map((hex) => Buffer.from(hex, 'hex'))) { // RFC 9162, 2.1.3.2
  must(last > 0, 'path');
  const isLeft = index % 2 === 1 || index === last;
  node = isLeft ? sha256('\x01', sibling, node) : sha256('\x01', node, sibling);
  while (isLeft && index % 2 === 0 && index > 0) [index, last] = [index >> 1, last >> 1];
  [index, last] = [index >> 1, last >> 1];
}
must(last === 0, 'path');
const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const number = [...key].reduce((sum, digit) => sum * 58n + BigInt(alphabet.indexOf(digit)), 0n);
const raw = Buffer.from(number.toString(16).padStart(64, '0'), 'hex');
must(sha256(raw).toString('hex').slice(0, 16) === receipt.kid, 'unknown-key');
must((raw[31] & 127) !== 0 || raw.subarray(1, 31).some(Boolean) || raw[0] > 1, 'weak-key'); // deniable signatures
const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), raw]);
const head = `proof-of-serve/v1 tree\n${receipt.size}\n${node.toString('hex')}\n`;
const publicKey = createPublicKey({ key: spki, format: 'der', type: 'spki' });
must(verify(null, Buffer.from(head), publicKey, Buffer.from(receipt.sig, 'hex')), 'signature');
console.log(result);
