import type { NodeOptions } from '../options.ts';

const MAX_TEXT = 300;
/** What is looked at at all. A word that this cuts in two is dropped: half a key must not pass for a word. */
const MAX_READ = 1000;
/** Shorter parts of a URL, such as `v2` or `rpc`, are words that a node may use innocently. */
const MIN_SECRET = 6;
/** A URL, a query, a host with a port or a path, a name of three or more labels. */
const ADDRESS = /\/\/|[?&][^=]*=|\w\.\w+[:/?]|\.[a-z]\w*\.[a-z]/i;

/**
 * Makes what a node says fit to be shown: one line, not long, and without any word that looks like an address or
 * holds a part of this node's own URLs and headers, where the keys are.
 */
export function scrubber({ url, wsUrl, headers = {} }: NodeOptions): (text: string) => string {
  const secrets = [url, wsUrl, ...Object.values(headers)]
    .flatMap((secret) => secret.split(/[\s/?&=:@#]+/))
    .flatMap((part) => [part, decoded(part)])
    .filter((part) => part.length >= MIN_SECRET);
  const clean = (word: string): string =>
    ADDRESS.test(word) || secrets.some((secret) => word.includes(secret)) ? '…' : word;
  return (text) => {
    const read = text.length <= MAX_READ ? text : text.slice(0, MAX_READ).replace(/\S+$/, '');
    return read
      .split(/[\s\p{Cc}]+/u)
      .map(clean)
      .join(' ')
      .trim()
      .slice(0, MAX_TEXT);
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a stray percent sign: then it stands for itself
  }
}
