import { getOwn } from '#lib/kubernetes/get-own.ts';
import { printableLines } from '#lib/telemetry/printable.ts';

/** Text that is HTML already, and is put into a page as it is. Only `html` makes some. */
export class Html {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  /** For `html` alone: everything else goes through it and is escaped. */
  static of(text: string): Html {
    return new Html(text);
  }

  toString(): string {
    return this.#text;
  }
}

/** What a template takes: HTML as it is, text escaped, lists one after the other, and nothing for what is not there. */
export type HtmlPart = Html | string | number | bigint | undefined | null | false | readonly HtmlPart[];

/**
 * Makes HTML of a template. What is put in is text unless it is HTML: `<`, `&` and quotes mean themselves, in elements and
 * in quoted attributes, and characters that reorder or hide what stands beside them are shown by their numbers.
 */
export function html(fixed: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  return Html.of(fixed.reduce((sum, text, place) => `${sum}${rendered(parts[place - 1])}${text}`));
}

function rendered(part: HtmlPart): string {
  if (part === undefined || part === null || part === false) return '';
  if (part instanceof Html) return part.toString();
  if (Array.isArray(part)) return part.map(rendered).join('');
  return escaped(String(part));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return printableLines(text).replace(/[&<>"']/g, (character) => getOwn(ENTITIES, character) ?? '');
}
