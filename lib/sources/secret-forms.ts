import { getOwn } from '#lib/kubernetes/get-own.ts';

/** Of longer secrets only so much is looked for, in UTF-16 units: forms take dozens of times what the secret does. */
export const LONGEST_LOOKED_FOR = 1024;

/**
 * The forms in which a secret may stand in what somebody else writes: as it is, percent-encoded, escaped as in JSON,
 * HTML and SQL, in hexadecimal digits, and in base64, alone or as a part of something longer. Of one that is longer than
 * {@link LONGEST_LOOKED_FOR}, these are what its forms begin with.
 */
export function secretForms(given: string): readonly string[] {
  const secret = beginningOf(given).toWellFormed();
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  const percent = encodeURIComponent(secret);
  const form = new URLSearchParams([['', secret]]).toString().slice(1);
  const percents = [percent, percentStrictly(percent), form, encodeURI(secret)];
  const everyByte = hex.replaceAll(/../g, '%$&');
  const units = escapeUnits(secret, () => true);
  const json = JSON.stringify(secret).slice(1, -1);
  const forms = [
    ...[secret, hex, hex.toUpperCase(), everyByte, everyByte.toUpperCase()],
    ...percents.flatMap((form) => [form, lowerHex(form), form.replaceAll('%20', '+')]),
    ...[json, json.replaceAll('/', '\\/'), units, units.toUpperCase().replaceAll('\\U', '\\u')],
    ...[escapeUnits(json, isHtml), escapeUnits(json, (unit) => isHtml(unit) || unit > '~')],
    ...[html(secret, '&#39;'), html(secret, '&#x27;')],
    ...[secret.replaceAll("'", "''"), secret.replaceAll("'", "\\'")],
    ...base64Forms(bytes).flatMap((form) => [form, encodeURIComponent(form), form.replaceAll('/', '\\/')]),
  ];
  return [...new Set(forms)];
}

/** Ends between characters: half of one is encoded as something else. */
function beginningOf(secret: string): string {
  return secret
    .slice(0, LONGEST_LOOKED_FOR)
    .replace(secret.length > LONGEST_LOOKED_FOR ? /[\uD800-\uDBFF]$/ : '', '');
}

/** What of its base64 does not depend on what stands around it, for each of the places at which it may begin. */
function base64Forms(bytes: Buffer): readonly string[] {
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
function percentStrictly(text: string): string {
  return text.replaceAll(/[!'()*]/g, (unit) => `%${unit.charCodeAt(0).toString(16).toUpperCase()}`);
}

function html(text: string, apostrophe: string): string {
  const entities: Readonly<Record<string, string>> = {
    ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' },
    "'": apostrophe,
  };
  return text.replaceAll(/[&<>"']/g, (character) => getOwn(entities, character) ?? character);
}
