import { getOwn } from '#lib/kubernetes/get-own.ts';
import { printableLines } from '#lib/telemetry/printable.ts';

/** Safe HTML, created only by {@link html}. */
export class Html {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  /** Only for {@link html}, which escapes everything else. */
  static of(text: string): Html {
    return new Html(text);
  }

  toString(): string {
    return this.#text;
  }
}

/**
 * A value in a template: HTML is inserted as it is, text is escaped, lists are concatenated, absent values are empty.
 */
export type HtmlPart = Html | string | number | bigint | undefined | null | false | readonly HtmlPart[];

/**
 * Creates HTML from a template. Values are escaped unless they are HTML, also in quoted attributes; characters that
 * reorder or hide text are shown as escapes.
 */
export function html(fixed: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  return Html.of(fixed.reduce((sum, text, index) => `${sum}${render(parts[index - 1])}${text}`));
}

function render(part: HtmlPart): string {
  if (part === undefined || part === null || part === false) return '';
  if (part instanceof Html) return part.toString();
  if (Array.isArray(part)) return part.map(render).join('');
  return escapeHtml(String(part));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return printableLines(text).replace(/[&<>"']/g, (character) => getOwn(ENTITIES, character) ?? '');
}
