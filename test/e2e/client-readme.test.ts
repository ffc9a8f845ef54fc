import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import t from 'tap';
import { startStepped, waitFor } from '../support/harness.ts';

const ROOT = new URL('../../../', import.meta.url); // from dist/test/e2e
const README = readFileSync(new URL('README.md', ROOT), 'utf8');
const [, example = ''] = /## The SDK\n.*?```js\n(.*?)```/s.exec(README) ?? [];

const hasShellTools = ['jq', 'curl'].every((tool) => spawnSync(tool, ['--version']).status === 0);
const jqSkipReason = hasShellTools ? false : 'there is no jq or no curl';

t.test('the example in the README works', async (t) => {
  const { gateway, step } = await startStepped(t);
  const printed: string[] = [];
  const code = example
    .replace("'http://127.0.0.1:8787'", `'${gateway.url}', maxAgeMs: Infinity`)
    .replaceAll('console.log(', 'printed(');
  const file = `${t.testdir()}/example.mjs`;
  writeFileSync(
    file,
    `export async function example(printed) {\n${code.replace(/^import (.*) from (.*);/, 'const $1 = await import($2);')}\nreturn () => { stop(); stream.close(); };\n}`,
  );
  const { example: run } = await import(pathToFileURL(file).href);
  const end: () => void = await run((...words: unknown[]) => printed.push(words.join(' ')));
  t.teardown(end);
  t.match(printed[0], /^9007199254740993 lamports at slot \d+$/);
  await step(2);
  await waitFor(() => printed.includes('9007199.254740993'), 'the balance');
  await waitFor(() => printed.some((line) => /^\d{7} \d*$/.test(line)), 'a frame');
});

const [, shellLines = ''] = /^In a shell [^`]*```sh\n(.*?)^```/ms.exec(README) ?? [];

t.test('the lines for a shell in the README verify a receipt', { skip: jqSkipReason }, async (t) => {
  const { gateway } = await startStepped(t, { perSlot: 0 });
  const main = fileURLToPath(new URL('../../src/main.js', import.meta.url));
  const bin = t.testdir({ npx: `#!/bin/sh\nshift\nexec '${process.execPath}' '${main}' "$@"\n` });
  chmodSync(`${bin}/npx`, 0o755); // stands for npx slotgate: another test runs that
  const lines = shellLines.replaceAll('http://127.0.0.1:8787', gateway.url);
  const env = { ...process.env, NODE_OPTIONS: '', PATH: `${bin}:${process.env['PATH']}` };
  const shell = spawn('sh', ['-c', lines], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  const [code] = await once(shell, 'close');
  t.equal(code, 0, output);
  t.match(output, '9007199254740993');
});

/** A project with the package and without the types of Node. */
const CONSUMER = `
import { createClient, type Result, type SlotgateError } from 'slotgate/client';

declare const console: { log(...words: unknown[]): void };

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const yes = <T extends true>(_?: T): void => {};

export async function typed() {
  const client = createClient({ url: 'http://localhost' });
  const { result, slot, receipt, body } = await client.get('/balance/:addr', { addr: 'x', commitment: 'finalized' });
  yes<Equal<typeof result, { readonly lamports: number | bigint; readonly sol: string }>>();
  yes<Equal<[typeof slot, typeof body, typeof receipt.issuedAt], [number, string, number]>>();
  const { result: rows } = await client.get('/balances', { addresses: ['x', 'y'], commitment: 'finalized' });
  yes<Equal<(typeof rows)[number], { readonly address: string; readonly lamports: number | bigint; readonly sol: string }>>();
  // @ts-expect-error a list, not a text
  client.get('/balances', { addresses: 'x,y' });
  const { result: network } = await client.get('/network');
  yes<Equal<typeof network.tps, number | null>>();
  yes<Equal<Result<'/token-accounts/:owner'>[number]['state'], 'initialized' | 'frozen' | 'uninitialized'>>();
  yes<Equal<Result<'/address/:addr/portfolio'>['items'][number]['decimals'], number>>();
  yes<Equal<Result<'/slot'>, number>>();
  yes<Equal<SlotgateError['status'], number | null>>();
  // @ts-expect-error no such path
  client.get('/balances/:addr', { addr: 'x' });
  // @ts-expect-error the address is missing
  client.get('/balance/:addr');
  // @ts-expect-error no such parameter
  client.get('/balance/:addr', { addr: 'x', page: 1 });
  // @ts-expect-error a block is never only processed
  client.get('/block/:slot', { slot: 1, commitment: 'processed' });
  // @ts-expect-error nothing is signed here
  client.get('/network', {}, { nonce: true });
  client.post('/rpc', { method: 'getSlot' }, { minSlot: slot });
  // @ts-expect-error it is about no slot
  client.post('/explain', { tx: {} }, { minSlot: slot });
  // @ts-expect-error it only reads
  client.post('/rpc', { method: 'sendTransaction' });
  client.stream().subscribe('account', 'x', { onUpdate: ({ result }) => yes<Equal<typeof result, Result<'/account/:addr'>>>() });
}
`;

t.test('a project without the types of Node is told what the client needs, and the example compiles', async (t) => {
  const folder = t.testdir({
    'tsconfig.json': JSON.stringify({
      compilerOptions: {
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        target: 'es2023',
        lib: ['es2023', 'dom'],
        types: [],
        module: 'nodenext',
      },
      files: ['consumer.mts'],
    }),
    'consumer.mts': CONSUMER.replace(/declare const console.*\n/, '') + example.replace(/^import .*\n/, ''),
  });
  const compiler = fileURLToPath(new URL('node_modules/typescript/bin/tsc', ROOT));
  // Without the options that the test runner passes to every Node process, which the compiler does not support.
  const compile = ['-u', 'NODE_OPTIONS', process.execPath, compiler, '-p', folder];
  const { status, stdout, stderr } = spawnSync('env', compile, { encoding: 'utf8' });
  t.equal(status, 0, stdout + stderr);
});
