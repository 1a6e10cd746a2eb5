import { getOwn } from '#lib/kubernetes/get-own.ts';
import { EmptyResponseError } from './sample.ts';

/** Shorter secrets would match unrelated text. */
const MIN_LENGTH = 8;
/** A shorter prefix of a secret at the end of a text is considered a coincidence. */
const MIN_PREFIX_LENGTH = 4;
const MAX_SHOWN_LENGTH = 300;
/** The rest of a longer text is dropped without a search. */
const MAX_SEARCHED_TEXT = 65_536;
const MAX_CAUSE_DEPTH = 8;
const REPLACEMENT = '…';

/**
 * Removes the secrets that were sent to a server from text of that server, before it is shortened or used in an error,
 * a log line, a condition or a page. Shortening first may leave the beginning of a secret.
 */
export class Secrets {
  readonly #secrets: readonly string[];
  #forms: SecretForms | undefined;

  constructor(secrets: readonly (string | undefined)[]) {
    this.#secrets = secrets.filter((secret) => secret !== undefined);
  }

  /** Removes the secrets from a text, puts it on one line, and shortens it. */
  redact(text: string, length = MAX_SHOWN_LENGTH): string {
    const line = this.#remove(text)
      .replaceAll(/\p{Cc}+/gu, ' ')
      .trim();
    return line.length > length ? `${line.slice(0, length).toWellFormed()}…` : line;
  }

  /** Redacts the messages of an error and its causes. Returns the error itself if there is nothing to remove. */
  redactError(error: unknown, length = MAX_SHOWN_LENGTH): Error {
    return this.#redactError(error, length, MAX_CAUSE_DEPTH);
  }

  #redactError(error: unknown, length: number, deepest: number): Error {
    if (!(error instanceof Error)) return new Error(this.redact(String(error), length));
    const message = this.redact(error.message || error.name, length);
    const cause =
      deepest > 0 && error.cause != null ? this.#redactError(error.cause, length, deepest - 1) : undefined;
    if (message === error.message && cause === (error.cause ?? undefined)) return error;
    const Redacted = error instanceof EmptyResponseError ? EmptyResponseError : Error;
    return new Redacted(message, cause && { cause });
  }

  #remove(text: string): string {
    this.#forms ??= buildForms(this.#secrets);
    const { whole, prefixes } = this.#forms;
    const longest = Math.max(whole[0]?.length ?? 0, prefixes[0]?.length ?? 0);
    const isWhole = text.length <= MAX_SEARCHED_TEXT + longest;
    const read = isWhole ? text : text.slice(0, MAX_SEARCHED_TEXT + longest);
    // The end of a long secret is unknown, so everything from its beginning is removed.
    const starts = prefixes.map((form) => read.indexOf(form)).filter((at) => at >= 0);
    const end = starts.length > 0 ? Math.min(...starts) : undefined;
    const left = whole.reduce((rest, form) => rest.replaceAll(form, REPLACEMENT), read.slice(0, end));
    // The sender may have truncated the text, as brokers do. Where it is truncated here, its end is dropped.
    if (!isWhole && end === undefined) return left.slice(0, -longest - 1);
    const beginning = [...prefixes, ...whole].reduce(
      (max, form) => Math.max(max, measurePrefixAtEnd(left, form)),
      0,
    );
    const cleaned = beginning < MIN_PREFIX_LENGTH ? left : left.slice(0, -beginning) + REPLACEMENT;
    return end === undefined ? cleaned : cleaned + REPLACEMENT;
  }
}

/** Strings to search for, the longest first, since one may contain another. */
interface SecretForms {
  readonly whole: readonly string[];
  /** Prefixes of the forms of long secrets. */
  readonly prefixes: readonly string[];
}

function buildForms(secrets: readonly string[]): SecretForms {
  const given = secrets.flatMap((secret) => [secret, secret.trim()]);
  const searched = [...new Set(given)].filter((secret) => secret.length >= MIN_LENGTH);
  const isLong = (secret: string) => secret.length > MAX_SEARCHED_LENGTH;
  const sorted = (some: readonly string[]) =>
    [...new Set(some.flatMap(buildSecretForms))].sort((a, b) => b.length - a.length);
  return {
    whole: sorted(searched.filter((secret) => !isLong(secret))),
    prefixes: sorted(searched.filter(isLong)),
  };
}

/**
 * Returns the number of characters at the end of a text that are a prefix of a word, or 0 if there are fewer than the
 * minimum. Takes time linear in the shorter of both, since words may be far longer than texts.
 */
function measurePrefixAtEnd(text: string, word: string): number {
  const last = text.slice(-word.length);
  const first = last.indexOf(word.slice(0, MIN_PREFIX_LENGTH));
  if (first < 0) return 0;
  const end = last.slice(first);
  const start = word.slice(0, end.length);
  const joined = `${start}\0${end}`;
  const borders = new Uint32Array(joined.length);
  let border = 0;
  for (let at = 1; at < joined.length; at++) {
    while (border > 0 && joined[at] !== joined[border]) border = borders[border - 1] ?? 0;
    if (joined[at] === joined[border]) border++;
    borders[at] = border;
  }
  return Math.min(border, word.length - 1);
}

/** Searched prefix of longer secrets, in UTF-16 units: all forms take dozens of times the memory of a secret. */
const MAX_SEARCHED_LENGTH = 1024;

/**
 * Returns the forms of a secret that foreign text may contain: plain, percent-encoded, escaped for JSON, HTML and SQL,
 * in hexadecimal digits, and in base64, alone or inside a longer value. For a secret longer than
 * {@link MAX_SEARCHED_LENGTH}, returns prefixes of its forms.
 */
export function buildSecretForms(given: string): readonly string[] {
  const secret = cutToPrefix(given).toWellFormed();
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  const percent = encodeURIComponent(secret);
  const form = new URLSearchParams([['', secret]]).toString().slice(1);
  const percents = [percent, encodeStrictly(percent), form, encodeURI(secret)];
  const everyByte = hex.replaceAll(/../g, '%$&');
  const units = escapeUnits(secret, () => true);
  const json = JSON.stringify(secret).slice(1, -1);
  const forms = [
    ...[secret, hex, hex.toUpperCase(), everyByte, everyByte.toUpperCase()],
    ...percents.flatMap((form) => [form, lowerHex(form), form.replaceAll('%20', '+')]),
    ...[json, json.replaceAll('/', '\\/'), units, units.toUpperCase().replaceAll('\\U', '\\u')],
    ...[escapeUnits(json, isHtml), escapeUnits(json, (unit) => isHtml(unit) || unit > '~')],
    ...[escapeHtml(secret, '&#39;'), escapeHtml(secret, '&#x27;')],
    ...[secret.replaceAll("'", "''"), secret.replaceAll("'", "\\'")],
    ...buildBase64Forms(bytes).flatMap((form) => [
      form,
      encodeURIComponent(form),
      form.replaceAll('/', '\\/'),
    ]),
  ];
  return [...new Set(forms)];
}

/** Does not cut surrogate pairs, which would be encoded differently. */
function cutToPrefix(secret: string): string {
  return secret
    .slice(0, MAX_SEARCHED_LENGTH)
    .replace(secret.length > MAX_SEARCHED_LENGTH ? /[\uD800-\uDBFF]$/ : '', '');
}

/** Returns the base64 that is independent of the surrounding bytes, for each of the three alignments. */
function buildBase64Forms(bytes: Buffer): readonly string[] {
  return [0, 1, 2].flatMap((offset) => {
    const before = Buffer.alloc(offset);
    const length = offset + bytes.length;
    const begin = Math.ceil((offset * 8) / 6);
    const end = Math.floor((length * 8) / 6);
    const padded = Buffer.concat([before, bytes]);
    return [padded.toString('base64').slice(begin, end), padded.toString('base64url').slice(begin, end)];
  });
}

function escapeUnits(text: string, isEscaped: (unit: string) => boolean): string {
  return text.replaceAll(/[\s\S]/g, (unit) =>
    isEscaped(unit) ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}` : unit,
  );
}

function isHtml(unit: string): boolean {
  return unit === '<' || unit === '>' || unit === '&';
}

function lowerHex(text: string): string {
  return text.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
}

/** Encodes also characters that `encodeURIComponent` does not, as other implementations do. */
function encodeStrictly(text: string): string {
  return text.replaceAll(/[!'()*]/g, (unit) => `%${unit.charCodeAt(0).toString(16).toUpperCase()}`);
}

function escapeHtml(text: string, apostrophe: string): string {
  const entities: Readonly<Record<string, string>> = {
    ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' },
    "'": apostrophe,
  };
  return text.replaceAll(/[&<>"']/g, (character) => getOwn(entities, character) ?? character);
}
