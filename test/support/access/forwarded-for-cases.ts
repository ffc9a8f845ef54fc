export const TRUSTED_PROXIES: readonly string[] = [
  '10.0.0.0/8',
  '192.0.2.7',
  'fd00::/8',
  '::1',
  '::ffff:172.16.0.0/108',
];

/** The `X-Forwarded-For` lines of a peer, and the address that counts. */
export interface ForwardedForCase {
  /** Whether the peer is trusted. */
  readonly byProxy: boolean;
  readonly lines: readonly string[];
  /** Expected address; undefined for the peer's. */
  readonly counts: string | undefined;
}

const FROM_UNTRUSTED: readonly (readonly string[])[] = [
  ['1.2.3.4'],
  ['10.0.0.1'],
  ['127.0.0.1'],
  ['::1'],
  ['1.2.3.4, 10.0.0.1'],
  ['1.2.3.4', '5.6.7.8'],
  ['unknown'],
  [''],
  [Array(1000).fill('1.2.3.4').join()],
  ['[2001:db8::5]:4711'],
  ['::ffff:10.1.1.1'],
  ['"1.2.3.4"'],
];

const THROUGH_PROXIES: readonly (readonly [counts: string | undefined, ...lines: string[]])[] = [
  [undefined],
  ['203.0.113.9', '203.0.113.9'],
  ['203.0.113.9', '1.2.3.4, 203.0.113.9'],
  ['203.0.113.9', '1.2.3.4,203.0.113.9,192.0.2.7 , 10.9.9.9'],
  ['203.0.113.9', `${Array(1000).fill('1.2.3.4').join()},203.0.113.9`],
  ['203.0.113.9', '203.0.113.9, 172.16.5.5'],
  ['203.0.113.9', '::ffff:203.0.113.9'],
  ['2001:db8::5', '2001:db8::5'],
  ['203.0.113.9', '1.2.3.4', '203.0.113.9'],
  ['203.0.113.9', '1.2.3.4, 5.6.7.8', '203.0.113.9, 10.2.2.2'],
  ['203.0.113.9', '203.0.113.9:4711'],
  ['2001:db8::5', '[2001:db8::5]:4711'],
  ['2001:db8::5', '[2001:db8::5]'],
  ['10.3.3.3', '10.3.3.3, 10.2.2.2'],
];

const GARBAGE: readonly string[] = [
  '',
  ' ',
  'unknown',
  '_hidden',
  '1.2.3',
  '1.2.3.4.5',
  '256.1.1.1',
  '010.1.1.1',
  '0x7f.1',
  '1',
  '[]',
  '[[::1]]',
  '2001:db8::g',
  '1.2.3.4:x',
  '::1::',
  '"1.2.3.4"',
  'a'.repeat(5000),
];

/** Sixty cases: forged hops on the left, long lists, ports, brackets and garbage. */
export const FORWARDED_FOR_CASES: readonly ForwardedForCase[] = [
  ...FROM_UNTRUSTED.map((lines) => ({ byProxy: false, lines, counts: undefined })),
  ...THROUGH_PROXIES.map(([counts, ...lines]) => ({ byProxy: true, lines, counts })),
  ...GARBAGE.flatMap((garbage) => [
    { byProxy: true, lines: [`1.2.3.4, ${garbage}`], counts: undefined },
    { byProxy: true, lines: [`1.2.3.4, ${garbage}, 203.0.113.9`], counts: '203.0.113.9' },
  ]),
];
