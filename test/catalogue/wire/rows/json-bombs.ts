import { setTimeout as sleep } from 'node:timers/promises';
import { expectNone, info } from '../../findings.ts';
import { expectBelowWhenQuiet, type WireRow } from '../wire-row.ts';

const LIMIT = 65_536;
/** Time after which the gateway has reported its event-loop delay. */
const REPORT_MS = 500;
const filled = (begin: string, part: string, end: string): string =>
  begin + part.repeat(Math.floor((LIMIT - begin.length - end.length) / part.length)) + end;

/** Bodies that are expensive to parse. */
const BOMBS: Readonly<Record<string, string | Buffer>> = {
  'nothing but brackets': '['.repeat(LIMIT),
  'brackets that close': '['.repeat(LIMIT / 2) + ']'.repeat(LIMIT / 2),
  'nothing but braces': '{"a":'.repeat(LIMIT / 5),
  'params as deep as can be': `{"method":"getSlot","params":${'['.repeat(30_000)}${']'.repeat(30_000)}}`,
  'a number of 65,000 digits': filled('{"method":"getBlock","params":[', '9', ']}'),
  'a fraction of 65,000 digits': filled('{"method":7,"params":[0.', '9', ']}'),
  'an exponent of 65,000 digits': filled('{"method":"getBlock","params":[1e', '9', ']}'),
  'a number beyond all': '{"method":"getBlock","params":[1e999]}',
  'a number below all': '{"method":"getBlock","params":[-1e999]}',
  'many keys': filled('{', '"a":0,', '"method":0}'),
  'many different keys': `{${Array.from({ length: 6500 }, (_, i) => `"${i.toString(36)}":0`).join()}}`,
  'keys that look like numbers': `{${Array.from({ length: 4000 }, (_, i) => `"${4_294_967_295 - i}":0`).join()}}`,
  'many methods': filled('{', '"method":"sendTransaction",', '"method":7}'),
  'many numbers': filled('{"method":7,"params":[', '0,', '0]}'),
  'a long text': filled('{"method":"', 'a', '"}'),
  'a text of escapes': filled('{"method":"', '\\u0061', '"}'),
  'a text that has no end': filled('{"method":"', 'a', ''),
  'a text of backslashes': filled('{"method":"', '\\\\', '"}'),
  blanks: filled('', ' ', ''),
  'blanks and a call': filled('', ' ', '{"method":7}'),
  'lone surrogates': '{"method":"\\ud800\\udc00\\ud800"}',
  NUL: '{"method":"get\0Slot"}',
  'an escaped NUL': '{"method":"getSlot\\u0000"}',
  'a mark of byte order': '\ufeff{"method":"getSlot"}',
  'no UTF-8': Buffer.from('{"method":"\xc3\x28"}', 'latin1'),
  'UTF-16': Buffer.from('{"method":"getSlot"}', 'utf16le'),
  prototypes: filled('{"method":7,"params":[', '{"__proto__":{}},', '0]}'),
  constructors: filled('{"method":7,"params":[', '{"constructor":{"prototype":{}}},', '0]}'),
};

/** Hostile JSON. */
export const jsonBombs: WireRow = {
  id: '13',
  title: 'JSON bombs to /rpc and /explain',
  async run({ get, gateway }, runLength) {
    const headers = { 'content-type': 'application/json' };
    const accepted: string[] = [];
    await sleep(REPORT_MS);
    gateway.takeLoopDelay();
    for (const path of ['/rpc', '/explain']) {
      for (const [name, body] of Object.entries(BOMBS)) {
        const { status } = await get(path, { method: 'POST', headers, body });
        if (status !== 400 && status !== 403) accepted.push(`${path} ${name}: ${status}`);
      }
    }
    await sleep(REPORT_MS);
    const { ownMs } = gateway.takeLoopDelay();
    for (const one of accepted) console.error(`   ${one}`);
    return [
      info('sent', 2 * Object.keys(BOMBS).length),
      expectNone('not refused', accepted.length),
      expectBelowWhenQuiet(runLength, 'longest event-loop delay', ownMs, 20, ' ms'),
    ];
  },
};
