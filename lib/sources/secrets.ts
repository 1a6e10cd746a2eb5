import { getOwn } from '#lib/kubernetes/get-own.ts';
import { EmptyResponseError } from './sample.ts';

/** Shorter ones may be found in anything. */
const MIN_LENGTH = 8;
/** So much of the beginning of one is no accident at the end of a text. */
const MIN_PREFIX_LENGTH = 4;
const MAX_SHOWN_LENGTH = 300;
/** Of a longer text, the rest is not even looked at. */
const MAX_SEARCHED_TEXT = 65_536;
const MAX_CAUSE_DEPTH = 8;
const REPLACEMENT = '…';

/**
 * What a server was shown, and may repeat: whatever it writes goes through here before it is cut, or stands in an error, a
 * log, a condition or a page. Who cuts first may leave the beginning of a secret.
 */
export class Secrets {
  readonly #secrets: readonly string[];
  #forms: SecretForms | undefined;

  constructor(secrets: readonly (string | undefined)[]) {
    this.#secrets = secrets.filter((secret) => secret !== undefined);
  }

  /** What may be told of a text: without the secrets, on one line, and then cut. */
  redact(text: string, length = MAX_SHOWN_LENGTH): string {
    const line = this.#remove(text)
      .replaceAll(/\p{Cc}+/gu, ' ')
      .trim();
    return line.length > length ? `${line.slice(0, length).toWellFormed()}…` : line;
  }

  /** An error of which every message may be told; itself where all may. */
  redactError(error: unknown, length = MAX_SHOWN_LENGTH): Error {
    return this.#redactError(error, length, MAX_CAUSE_DEPTH);
  }

  #redactError(error: unknown, length: number, deepest: number): Error {
    if (!(error instanceof Error)) return new Error(this.redact(String(error), length));
    const message = this.redact(error.message || error.name, length);
    const cause =
      deepest > 0 && error.cause != null ? this.#redactError(error.cause, length, deepest - 1) : undefined;
    if (message === error.message && cause === (error.cause ?? undefined)) return error;
    const Told = error instanceof EmptyResponseError ? EmptyResponseError : Error;
    return new Told(message, cause && { cause });
  }

  #remove(text: string): string {
    this.#forms ??= buildForms(this.#secrets);
    const { whole, prefixes } = this.#forms;
    const longest = Math.max(whole[0]?.length ?? 0, prefixes[0]?.length ?? 0);
    const isWhole = text.length <= MAX_SEARCHED_TEXT + longest;
    const read = isWhole ? text : text.slice(0, MAX_SEARCHED_TEXT + longest);
    // Where a long secret ends is not known: from the first of them on, all is left out.
    const places = prefixes.map((form) => read.indexOf(form)).filter((at) => at >= 0);
    const end = places.length > 0 ? Math.min(...places) : undefined;
    const left = whole.reduce((rest, form) => rest.replaceAll(form, REPLACEMENT), read.slice(0, end));
    // Its writer may have cut it, as brokers do; where we did, the end is given up as a whole.
    if (!isWhole && end === undefined) return left.slice(0, -longest - 1);
    const beginning = [...prefixes, ...whole].reduce(
      (most, form) => Math.max(most, measurePrefixAtEnd(left, form)),
      0,
    );
    const kept = beginning < MIN_PREFIX_LENGTH ? left : left.slice(0, -beginning) + REPLACEMENT;
    return end === undefined ? kept : kept + REPLACEMENT;
  }
}

/** What is looked for, each the longest first: one may be a part of another. */
interface SecretForms {
  readonly whole: readonly string[];
  /** Of secrets that are too long to be kept in all their forms, what these begin with. */
  readonly prefixes: readonly string[];
}

function buildForms(secrets: readonly string[]): SecretForms {
  const given = secrets.flatMap((secret) => [secret, secret.trim()]);
  const looked = [...new Set(given)].filter((secret) => secret.length >= MIN_LENGTH);
  const isLong = (secret: string) => secret.length > MAX_SEARCHED_LENGTH;
  const sorted = (some: readonly string[]) =>
    [...new Set(some.flatMap(buildSecretForms))].sort((a, b) => b.length - a.length);
  return {
    whole: sorted(looked.filter((secret) => !isLong(secret))),
    prefixes: sorted(looked.filter(isLong)),
  };
}

/**
 * How many characters at the end of a text are the beginning of a word, where that is not too short to count; in time linear
 * in the shorter of them: words may be far longer than the texts.
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

/** Of longer secrets only so much is looked for, in UTF-16 units: forms take dozens of times what the secret does. */
const MAX_SEARCHED_LENGTH = 1024;

/**
 * The forms in which a secret may stand in what somebody else writes: as it is, percent-encoded, escaped as in JSON,
 * HTML and SQL, in hexadecimal digits, and in base64, alone or as a part of something longer. Of one that is longer than
 * {@link MAX_SEARCHED_LENGTH}, these are what its forms begin with.
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

/** Ends between characters: half of one is encoded as something else. */
function cutToPrefix(secret: string): string {
  return secret
    .slice(0, MAX_SEARCHED_LENGTH)
    .replace(secret.length > MAX_SEARCHED_LENGTH ? /[\uD800-\uDBFF]$/ : '', '');
}

/** What of its base64 does not depend on what stands around it, for each of the places at which it may begin. */
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

/** What `encodeURIComponent` leaves as it is, others encode. */
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
