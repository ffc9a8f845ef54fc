import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Parts of the build that no caller's text reaches. */
const NOT_THE_GATEWAY = /^(client|page|cluster|localnet|cli)\b/;

const PATTERN = /[=(,:[!&|?]\s*\/((?![*/])(?:\\.|\[(?:\\.|[^\]])*\]|[^/\\\n])+)\/[dgimsuy]*[\s.;,)\]]/g;
/** A word before something that is repeated without a bound, at most a group or some characters away. */
const WORD_BEFORE_REPETITION = /([A-Za-z]{3,})(?=[^A-Za-z+*]{0,3}(?:\\[wWsSdD]|\.|\[(?:\\.|[^\]])*\])[*+])/g;

/**
 * Collects words for stretched texts from a build, as fuzzers derive dictionaries from the program under test: a text of
 * them makes its regular expressions try each place where such a word begins.
 */
export function wordsOfPatterns(mainModule: string): readonly string[] {
  const words = new Set<string>();
  const folder = dirname(mainModule);
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.js') || NOT_THE_GATEWAY.test(name)) continue;
    for (const [, pattern = ''] of readFileSync(join(folder, name), 'utf8').matchAll(PATTERN))
      for (const [word] of pattern.matchAll(WORD_BEFORE_REPETITION)) words.add(word);
  }
  return [...words].sort();
}
