import { decodeUri } from '../../../shared/domain/decode-uri.ts';
import type { NodeOptions } from '../upstream-options.ts';

const MAX_OUTPUT_LENGTH = 300;
/** Longest text that is read. A word that this cuts in two is dropped, since half a key is not recognized. */
const MAX_INPUT_LENGTH = 1000;
/** Shortest secret: shorter parts of a URL, such as `v2` or `rpc`, are ordinary words. */
const MIN_SECRET_LENGTH = 6;
/** URL, query, host with a port or a path, or name of three or more labels. */
const ADDRESS = /\/\/|[?&][^=]*=|\w\.\w+[:/?]|\.[a-z]\w*\.[a-z]/i;

/**
 * Creates the function that removes secrets from a node's texts. It returns one short line without any word that looks
 * like an address or contains a part of this node's URLs and headers, where the keys are.
 */
export function redactor({ url, wsUrl, headers = {} }: NodeOptions): (text: string) => string {
  const secrets = [url, wsUrl, ...Object.values(headers)]
    .flatMap((secret) => secret.split(/[\s/?&=:@#]+/))
    .flatMap((part) => [part, decodeUri(part)])
    .filter((part) => part.length >= MIN_SECRET_LENGTH);
  const redactWord = (word: string): string =>
    ADDRESS.test(word) || secrets.some((secret) => word.includes(secret)) ? '…' : word;
  return (text) => {
    const input = text.length <= MAX_INPUT_LENGTH ? text : text.slice(0, MAX_INPUT_LENGTH).replace(/\S+$/, '');
    return input
      .split(/[\s\p{Cc}\p{Cf}]+/u)
      .map(redactWord)
      .join(' ')
      .trim()
      .slice(0, MAX_OUTPUT_LENGTH);
  };
}

/** For the log: user, path, query and the first labels of a host may hold keys; two labels are shown. */
export function redactedOrigin(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  const isAddress = hostname.startsWith('[') || /^[\d.]+$/.test(hostname);
  const labels = hostname.split('.');
  const host = isAddress || labels.length <= 2 ? hostname : `….${labels.slice(-2).join('.')}`;
  return `${protocol}//${host}${port === '' ? '' : `:${port}`}`;
}
