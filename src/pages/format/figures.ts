import { tryOrUndefined } from '../../shared/domain/try-or-undefined.ts';

/** What a value that is not known is shown as; it is as wide as a digit. */
export const UNKNOWN = '–';

/** The least share that one decimal of a percentage shows. */
const LEAST_SHARE = 0.001;

export type Integer = number | bigint;

/** Formats figures in the reader's language. What people copy are the raw digits. */
export class Figures {
  /** The reader's language; undefined if this browser has none of its name. */
  readonly language: string | undefined;
  readonly #number: Intl.NumberFormat;
  readonly #oneDecimal: Intl.NumberFormat;
  readonly #percent: Intl.NumberFormat;
  readonly #usd: Intl.NumberFormat;

  /** `locale` is undefined for the reader's own. A tag that is none is passed over. */
  constructor(locale?: string) {
    const known = tryOrUndefined(() => Intl.NumberFormat.supportedLocalesOf(locale)[0]);
    this.language = known;
    this.#number = new Intl.NumberFormat(known, { maximumFractionDigits: 0 });
    this.#oneDecimal = new Intl.NumberFormat(known, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
    this.#percent = new Intl.NumberFormat(known, {
      style: 'percent',
      minimumFractionDigits: 1,
      maximumFractionDigits: 1,
    });
    this.#usd = new Intl.NumberFormat(known, {
      style: 'currency',
      currency: 'USD',
      minimumFractionDigits: 2,
      maximumFractionDigits: 2,
      minimumSignificantDigits: 2, // of less than a cent
      maximumSignificantDigits: 2,
      roundingPriority: 'morePrecision',
    });
  }

  integer(value: Integer | null): string {
    return value === null ? UNKNOWN : this.#number.format(value);
  }

  percent(share: number | null): string {
    if (share === null) return UNKNOWN;
    return share > 0 && share < LEAST_SHARE / 2 ? `<${this.#percent.format(LEAST_SHARE)}` : this.#percent.format(share);
  }

  usd(value: Integer | null): string {
    return value === null ? UNKNOWN : this.#usd.format(value);
  }

  /** Formats a decimal text with all its digits; a text that is none stays as it is. */
  decimal(text: string): string {
    const [, sign = '', whole, fraction] = /^([+-]?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
    if (whole === undefined) return text;
    const separator = this.#oneDecimal.formatToParts(0.5).find(({ type }) => type === 'decimal')?.value ?? '.';
    const digits = fraction?.replace(/\d/g, (digit) => this.#number.format(Number(digit)));
    const grouped = this.#number.format(BigInt(whole));
    return `${sign.replace('-', '−')}${grouped}${digits === undefined ? '' : separator + digits}`;
  }
}

/** Groups the digits of the long numbers in a sentence, and writes its decimals as all others: not years, nor versions. */
export const formatSentence = (text: string, figures: Figures): string =>
  text.replace(/(?<![\w.“])(?:\d{5,}(?:\.\d+)?|\d+\.\d+)(?!\w|\.\d)/g, (number) => figures.decimal(number));

/** Formats a span in its two largest units: `18 h 12 m`. */
export function formatSpan(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  if (first === -1) return '0 s';
  return parts
    .slice(first, first + 2)
    .filter(([count], at) => at === 0 || count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}

/** Shortens an identifier in the middle: `8Tzx…pVA5`. */
export const shorten = (id: string): string => (id.length <= 12 ? id : `${id.slice(0, 4)}…${id.slice(-4)}`);
