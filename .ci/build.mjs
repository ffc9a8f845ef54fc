// Builds dist/: src, test and bench by the TypeScript compiler, a copy of each data folder, the pages and the widget of
// src/pages by esbuild, and from those, by dist/src/pages/build, the files that the gateway serves to people. What a process
// or a thread starts with is bundled by esbuild, too, in place of what the compiler made of it: 1,287 modules take a second
// of CPU to load, the bundle a third of one.
//
// It compiles into a folder beside dist/, then renames each file that differs into place, so a process that runs from
// dist/ never finds a file missing or half written, and a failed build changes nothing. It does nothing if no source has
// changed since the last build. Two simultaneous builds do the same work twice and agree.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const DIST = 'dist';
/** The folder in which this process compiles. It is as deep as dist/, so that source maps have the right paths. */
const STAGING = `.${DIST}-${process.pid}`;
/** Where the compiler writes the declarations of what runs in browsers. */
const PAGE_TYPES = join(STAGING, 'page-types');
/** Where the bundler writes what the site is composed of. */
const BUNDLES = join(process.cwd(), STAGING, 'bundles');
const SOURCES = ['src', 'test', 'bench'];
/** What else decides what the compiler writes: its options, its version, the types of the dependencies. */
const SETTINGS = ['package.json', 'tsconfig.json', '.ci/build.mjs', 'node_modules/.package-lock.json'];
/** What the last build read and wrote. */
const RECORD = join(DIST, '.build.json');
/** What processes and threads of the gateway start with, below src/. */
const ENTRIES = [
  'main.ts',
  'gateway/composition/member-main.ts',
  'localnet/cluster-worker.ts',
  'gateway/routes/decoding/decoding-thread.ts',
  'gateway/routes/scans/tabling-thread.ts',
];
/** Where what several entries share is bundled to, below dist/src/. */
const CHUNKS = 'bundle';
/**
 * Packages that stay outside the bundle: they load binaries or threads by their own paths, are optional, or are CommonJS and
 * imported when they are first needed: a bundle would show no export of such a one but its default.
 */
const UNBUNDLED = [
  'uWebSockets.js',
  'uws-pack',
  'prom-client',
  'litesvm',
  'msgpackr',
  'pino',
  'pino-pretty',
  '@redis/client',
];
/** What package.json names as `bin`: npm runs it by a link, so it must be executable. */
const COMMAND = join('src', 'main.js');

/** npx installs the clone into its cache the first time, and has it prepared for that: it is built already. */
const isCalledByNpx = process.env.npm_lifecycle_event === 'prepare' && process.env.npm_command === 'exec';

if (!isCalledByNpx || !existsSync(join(DIST, COMMAND))) await build();
chmodSync(join(DIST, COMMAND), 0o755);

async function build() {
  removeAbandonedStaging();
  for (let digest = digestOfSources(); !isUpToDate(digest); ) {
    try {
      await compile();
      const digestNow = digestOfSources();
      if (digestNow === digest) publish(digest);
      else digest = digestNow; // a source has changed since then: this build is of no version of it
    } finally {
      rmSync(STAGING, { recursive: true, force: true });
    }
  }
}

/** Removes what killed builds have left, one of the same process id too: in a container that is the usual case. */
function removeAbandonedStaging() {
  for (const name of readdirSync('.')) {
    const [, pid] = /^\.dist-(\d+)$/.exec(name) ?? [];
    if (name === STAGING || (pid !== undefined && !isAlive(Number(pid))))
      rmSync(name, { recursive: true, force: true });
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function digestOfSources() {
  const hash = createHash('sha256');
  const isSource = (path) => /\.(ts|html|css|json|md|tsv|bash|zsh|fish|png|ico)$/.test(path);
  for (const path of [...SETTINGS.filter((path) => existsSync(path)), ...SOURCES.flatMap(filesIn).filter(isSource)]) {
    const bytes = readFileSync(path);
    hash.update(`${path} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest('hex');
}

/** Returns whether dist/ has what a build of these sources wrote, each file as it was written. */
function isUpToDate(digest) {
  try {
    const { sources, outputs } = JSON.parse(readFileSync(RECORD, 'utf8'));
    return sources === digest && Object.entries(outputs).every(([path, stamp]) => stampOf(join(DIST, path)) === stamp);
  } catch {
    return false; // there is no record, it is damaged, or a file is missing
  }
}

/** Returns a text that changes when a file is written. */
function stampOf(path) {
  const { size, mtimeMs } = statSync(path);
  return `${size} ${mtimeMs}`;
}

async function compile() {
  const hasPages = existsSync('src/pages/tsconfig.json');
  const compiled = [compileTypes('--outDir', STAGING)];
  if (hasPages) compiled.push(compileTypes('-p', 'src/pages', '--outDir', PAGE_TYPES), bundlePages());
  const [failed] = (await Promise.allSettled(compiled)).filter(({ status }) => status === 'rejected');
  try {
    if (failed !== undefined) throw failed.reason;
    for (const path of filesIn('src').filter((path) => path.includes('/data/'))) cpSync(path, join(STAGING, path));
    if (hasPages) {
      await run(`${STAGING}/src/gateway/http/rest/write-openapi.js`, join(BUNDLES, 'openapi.json'));
      await run(`${STAGING}/src/pages/build/build-site.js`, BUNDLES);
      rmSync(BUNDLES, { recursive: true });
    }
    if (existsSync('src/client')) await buildClient();
    if (existsSync('src/gateway/composition')) await bundleEntries();
    rmSync(PAGE_TYPES, { recursive: true, force: true });
  } catch (error) {
    rmSync(STAGING, { recursive: true, force: true });
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

/** Bundles what runs in browsers. The compiler checks its types, as the bundler does not. */
async function bundlePages() {
  const { build } = await import('esbuild');
  const folders = readdirSync('src/pages').filter((name) =>
    ['main.ts', 'page.html'].some((file) => existsSync(`src/pages/${name}/${file}`)),
  );
  await build({
    entryPoints: folders.flatMap((name) =>
      ['main.ts', 'page.html', 'page.css'].map((file) => `src/pages/${name}/${file}`).filter(existsSync),
    ),
    outdir: BUNDLES,
    outbase: 'src/pages',
    bundle: true,
    minify: true,
    format: 'iife', // a page's script is inline, and the widget's is a classic one
    target: 'es2022',
    loader: { '.html': 'copy' },
    plugins: [{ name: 'plots', setup: leaveOutUnused }],
    logLevel: 'warning',
  });
}

/**
 * Leaves out of the bundle what the plots don't use of uPlot, an eighth of it: bars, curves, formats of dates, functions for its
 * callers, and the language of its own numbers, whose tag may be none: then it would not load.
 */
function leaveOutUnused({ onLoad }) {
  const unused =
    /\(paths\.(?:stepped|bars|spline)\s*= \w+\);|^\t?uPlot\.\w+\s*= \w+;$|(?<=^const subs = \{)[\s\S]*?(?=^\};)|(?<=_timeAxisStamps = \[)[\s\S]*?(?=^\t\];)|(?<=^const numFormatter = new Intl\.NumberFormat\().*(?=\);)/gm;
  onLoad({ filter: /uPlot\.esm\.js$/ }, ({ path }) => {
    const text = readFileSync(path, 'utf8');
    if (text.match(unused)?.length !== 19) throw new Error('uPlot names its functions in another way now');
    return { contents: text.replace(unused, ''), loader: 'js' };
  });
}

/** Makes the package slotgate-client: modules without dependencies, and declarations without those of the server. */
async function buildClient() {
  const { build } = await import('esbuild');
  await build({
    entryPoints: {
      client: 'src/client/client.ts',
      verify: 'src/client/verify/verify-receipt.ts',
      widget: 'src/pages/widget/module.ts',
    },
    outdir: `${STAGING}/client`,
    bundle: true,
    splitting: true, // they share the verifier
    chunkNames: 'shared-[hash]',
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2022',
    logLevel: 'warning',
  });
  await run(`${STAGING}/src/gateway/client-package/write-package.js`, `${STAGING}/client`, PAGE_TYPES);
}

/**
 * Bundles the entries of processes and threads, and what they share, with their packages. Source maps lead from there to
 * the sources. What the compiler made of all other modules stays for their importers: tests, and users of the package.
 */
async function bundleEntries() {
  const { build } = await import('esbuild');
  const withModuleUrl = new Set();
  const { metafile } = await build({
    entryPoints: ENTRIES.map((path) => `src/${path}`),
    outdir: join(STAGING, 'src'),
    outbase: 'src',
    bundle: true,
    splitting: true,
    chunkNames: `${CHUNKS}/[name]-[hash]`,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: UNBUNDLED,
    banner: { js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);" }, // for CommonJS
    alias: { rxjs: join(process.cwd(), 'node_modules/rxjs/dist/esm/index.js') }, // what is unused of CommonJS would stay
    plugins: [
      { name: 'module-urls', setup: (build) => keepModuleUrls(build, withModuleUrl) },
      { name: 'undici', setup: leaveOutOfUndici },
    ],
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    logLevel: 'warning',
  });
  for (const [path, { inputs }] of Object.entries(metafile.outputs)) {
    const input = Object.keys(inputs).find((input) => withModuleUrl.has(join(process.cwd(), input)));
    if (input !== undefined && dirname(dirname(path)) !== `${STAGING}/src`)
      throw new Error(`${input} is bundled into ${path}, from where it would not find the files that it names`);
  }
}

/** Leaves out of the bundle what no source uses of undici, half of it: each start would compile and run it. */
function leaveOutOfUndici({ onLoad }) {
  onLoad({ filter: /undici[\\/]index\.js$/ }, ({ path }) => {
    const [makeDispatcher] = readFileSync(path, 'utf8').match(/^function makeDispatcher [\s\S]*?^}$/m);
    const contents = `
      const api = require('./lib/api');
      const { InvalidArgumentError } = exports.errors = require('./lib/core/errors');
      const { getGlobalDispatcher } = require('./lib/global');
      const util = require('./lib/core/util');
      Object.assign(require('./lib/dispatcher/dispatcher').prototype, api);
      ${makeDispatcher}
      exports.Agent = require('./lib/dispatcher/agent');
      exports.Pool = require('./lib/dispatcher/pool');
      exports.request = makeDispatcher(api.request);`;
    for (const file of readdirSync('src', { recursive: true }).filter((name) => name.endsWith('.ts'))) {
      const [, names = ''] =
        readFileSync(join('src', file), 'utf8').match(/^import \{([^}]*)\} from 'undici';$/m) ?? [];
      for (const name of names.split(',').map((each) => each.trim()))
        if (name !== '' && !name.startsWith('type ') && !contents.includes(`exports.${name} =`))
          throw new Error(`${file} imports ${name} of undici, which the bundle leaves out`);
    }
    return { contents, loader: 'js' };
  });
}

/**
 * Lets a bundled module find files by the URL that it has unbundled. It must be bundled into a file that is one folder
 * below src/, as all chunks are.
 */
function keepModuleUrls({ onLoad }, withModuleUrl) {
  const sources = join(process.cwd(), 'src');
  onLoad({ filter: /\.ts$/ }, ({ path }) => {
    const text = readFileSync(path, 'utf8');
    if (!path.startsWith(sources) || !text.includes('import.meta.url')) return undefined;
    withModuleUrl.add(path);
    const compiled = `../${relative(sources, path).replace(/\.ts$/, '.js')}`;
    const contents = text.replaceAll('import.meta.url', `new URL('${compiled}', import.meta.url).href`);
    return { contents, loader: 'ts' };
  });
}

/** Runs the compiler. If it fails, it has said why. */
function compileTypes(...args) {
  return run('node_modules/typescript/bin/tsc', ...args);
}

/** Runs a script of Node to its end. */
function run(script, ...args) {
  const { NODE_OPTIONS: _, ...env } = process.env; // it is meant for those who run from dist/
  const child = spawn(process.execPath, [script, ...args], { stdio: 'inherit', env });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`the build has failed: nothing in ${DIST}/ was changed`));
    });
  });
}

/** Moves what differs into dist/, removes what no source makes any more, and writes down what is there. */
function publish(digest) {
  chmodSync(join(STAGING, COMMAND), 0o755); // before it gets its place, so that it never lacks it there
  const paths = filesIn(STAGING).map((path) => path.slice(STAGING.length + 1));
  rmSync(RECORD, { force: true }); // a build that is killed from here on leaves nothing that counts as up to date
  for (const path of paths) {
    const [from, to] = [join(STAGING, path), join(DIST, path)];
    if (isSameFile(from, to)) continue;
    mkdirSync(dirname(to), { recursive: true });
    renameSync(from, to);
  }
  const made = new Set(paths);
  for (const path of [...SOURCES, 'client'].flatMap((folder) => filesIn(join(DIST, folder)))) {
    if (!made.has(path.slice(DIST.length + 1))) rmSync(path, { force: true });
  }
  const outputs = Object.fromEntries(paths.map((path) => [path, stampOf(join(DIST, path))]));
  writeFileSync(join(STAGING, 'record'), JSON.stringify({ sources: digest, outputs }));
  renameSync(join(STAGING, 'record'), RECORD);
}

function isSameFile(from, to) {
  try {
    return readFileSync(from).equals(readFileSync(to));
  } catch {
    return false; // there is none yet
  }
}

/** Lists the files below a folder, in one order; none if there is no folder. */
function filesIn(folder) {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.map((entry) => join(entry.parentPath ?? entry.path, entry.name)).sort();
}
