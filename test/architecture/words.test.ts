import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { ERRORS } from '../../src/shared/domain/gateway-error.ts';

t.test('words', async (t) => {
  // A program reports, announces, publishes or receives, and a request is a request: words that mean several of these are not
  // used, in names, comments, messages and documents. `meanwhile` and `anew` say nothing, and "at once" says two things. What
  // waits or leads is named: "to who waits" names nobody.

  const ROOT = new URL('../../../', import.meta.url); // from dist/test/architecture
  const PLACES = ['src', 'test', 'bench', 'config', '.ci', '.github', 'README.md'];

  /** Files that people write. What was recorded, or is somebody else's data, has the words of its authors. */
  const WRITTEN =
    /(?:\.(?:ts|mjs|js|md|html|css|py|sh|ya?ml|conf|cfg|service|json)|\/(?:run|tap|check|with-[\w-]+|Caddyfile|Dockerfile))$/;
  const RECORDED = /\/recorded\/|\/fixtures\/|results\.json$|package-lock\.json$|architecture\/words\.test\.ts$/;

  const WORDS = [
    'tell',
    'tells',
    'telling',
    'told',
    'hear',
    'hears',
    'hearing',
    'heard',
    'asker',
    'askers',
    'asks',
    'asked',
    'asking',
    'anew',
    'meanwhile',
  ];
  const PHRASES = ['at once', 'so many', 'as many as', 'to who', 'from who', 'for who'];

  /**
   * Declares what `take`s: which of accept, acquire, consume, dequeue or remove it does is in its name. Other names with the word,
   * such as `tookMs`, are those of time.
   */
  const TAKES = /^\s*(?:export |async |const |function )*#?take(?:[A-Z]\w*)?(?:\(.*\{| = .*)$/;

  /** Splits names: `toldSlot`, `TOLD_SLOT` and `told-slot` have the word `told`. */
  const wordsOf = (line: string): string =>
    line
      .replace(/([a-z\d])([A-Z])/g, '$1 $2')
      .replace(/[^A-Za-z]+/g, ' ')
      .toLowerCase();

  function excludedIn(line: string): string[] {
    const words = ` ${wordsOf(line)} `;
    const found = [...WORDS, ...PHRASES].filter((word) => words.includes(` ${word} `));
    return TAKES.test(line) ? [...found, 'take'] : found;
  }

  function filesBelow(path: string): string[] {
    const url = new URL(path, ROOT);
    if (!path.includes('.') || path.startsWith('.')) {
      const entries = readdirSync(url, { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile())
        .map((entry) => `${entry.parentPath ?? entry.path}/${entry.name}`.slice(ROOT.pathname.length));
    }
    return [path];
  }

  t.test('the words are found in names, in text, and across cases', async (t) => {
    t.strictSame(excludedIn('const toldSlot = TELLS_ALL; // at once'), ['tells', 'told', 'at once']);
    t.strictSame(excludedIn('what is heard anew; As many as that'), ['heard', 'anew', 'as many as']);
    t.strictSame(excludedIn('  async takeReport(): Promise<Report> {'), ['take']);
    t.strictSame(excludedIn('function takePort(): number {'), ['take']);
    t.strictSame(excludedIn('  #take = () => 1;'), ['take']);
    t.strictSame(excludedIn('const { take } = stake.takesLong(tookMs); // it takes long'), []);
    t.strictSame(excludedIn('intellect, subtask, threads, clear, shear, masks, to whoever'), []);
  });

  t.test('nothing that people write here uses them', async (t) => {
    const found = PLACES.flatMap(filesBelow)
      .filter((path) => WRITTEN.test(path) && !RECORDED.test(path))
      .flatMap((path) =>
        readFileSync(new URL(path, ROOT), 'utf8')
          .split('\n')
          .flatMap((line, i) => excludedIn(line).map((word) => `${path}:${i + 1} ${word}`)),
      );
    t.strictSame(found, []);
  });
});

t.test('error-codes', async (t) => {
  const FOLDER = fileURLToPath(new URL('../../../test/e2e/', import.meta.url)); // from dist/test/architecture

  t.test('each error code is provoked by a test at the public door', (t) => {
    const files = readdirSync(FOLDER).map((name) => readFileSync(join(FOLDER, name), 'utf8'));
    const isExpected = (code: string): boolean =>
      files.some((text) => new RegExp(`['"/ ]${code}['"$/ |):]`).test(text));
    const unexpected = Object.keys(ERRORS).filter((code) => !isExpected(code));
    t.same(unexpected, []);
    t.end();
  });
});

t.test('unpublished-names', async (t) => {
  const root = new URL('../../../', import.meta.url); // from dist/test/architecture
  const textOf = (path: string): string => readFileSync(new URL(path, root), 'utf8');

  /** Lists what readers see: pages, chapters, snippets, messages of the command line, examples, samples. */
  const filesIn = (folder: string): readonly string[] =>
    readdirSync(new URL(folder, root), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => `${entry.parentPath ?? entry.path}/${entry.name}`)
      .map((path) => path.slice(root.pathname.length));
  const readable = ['src/pages', 'src/cli', 'src/client', 'test/examples', 'config'].flatMap(filesIn);
  const served = filesIn('dist/src/pages').filter((path) => /\.(html|md|txt|json|js)$/.test(path));

  const NAME = '(slotgate-client|slotgate)(?![\\w./-])';

  /** What makes a package manager run or install a package of our name from a registry, or leads to one there. */
  const FROM_REGISTRY = [
    new RegExp(`\\b(npx|bunx|pnpx)\\s+(-\\S+\\s+)*${NAME}`),
    new RegExp(`\\b(npm|pnpm|yarn|bun|deno)\\s+(i|install|add|exec|x|dlx|run)\\s+([^\\s\`#]+\\s+)*?(npm:)?${NAME}`),
    /(npmjs\.com\/package|unpkg\.com|esm\.sh|jsdelivr\.net\/npm)\/slotgate/,
  ];

  const isPrivate = (path: string): boolean => JSON.parse(textOf(path)).private === true;

  t.test('both packages are published, or neither', async (t) => {
    t.equal(isPrivate('package.json'), isPrivate('src/client/package.json'));
  });

  t.test(
    'no reader is led to a name in a registry that is not ours',
    { skip: !isPrivate('package.json') && 'the packages are published' },
    async (t) => {
      const found = ['README.md', '.github/CHANGELOG.md', ...readable, ...served]
        .filter((path) => existsSync(new URL(path, root)))
        .flatMap((path) => {
          const text = textOf(path);
          return FROM_REGISTRY.flatMap((pattern) => pattern.exec(text)?.[0] ?? []).map((match) => `${path}: ${match}`);
        });
      t.same(found, []);
      t.ok(served.length > 0, 'the pages as they are served are among them');
    },
  );

  t.test('the patterns find what they are about, and pass over what starts from a clone', async (t) => {
    const isFound = (text: string): boolean => FROM_REGISTRY.some((pattern) => pattern.test(text));
    for (const text of [
      'npx slotgate get /slot',
      'npx --yes slotgate@0.1.0',
      'npm install slotgate-client',
      'npm i -g slotgate',
      'npm exec slotgate',
      'deno add npm:slotgate-client',
      'https://www.npmjs.com/package/slotgate',
    ])
      t.ok(isFound(text), text);
    for (const text of [
      'npm install ./slotgate-client-0.1.0.tgz',
      "import { createClient } from 'slotgate-client';",
      'slotgate get /slot',
      'npm install && npm start',
    ])
      t.notOk(isFound(text), text);
  });
});
