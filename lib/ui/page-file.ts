import { readFile } from 'node:fs/promises';
import type { Endpoint } from '#lib/apiserver/http/api-context.ts';
import { securePage } from './secure-page.ts';

/** The files of a page by their types: they are text, and hold no data. */
const MEDIA_TYPES = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
} as const;

/** The look that all pages share, which the style of each goes on from. */
export const SHARED_STYLE = new URL('./page/style.css', import.meta.url);

/** Serves files as they are, one after the other. They are read when they are first asked for: most programs never are. */
export function pageFile(type: keyof typeof MEDIA_TYPES, ...files: readonly URL[]): Endpoint {
  let content: Promise<Buffer> | undefined;
  return async (context) => {
    securePage(context, MEDIA_TYPES[type]);
    content ??= Promise.all(files.map((file) => readFile(file))).then(
      (parts) => Buffer.concat(parts),
      (error: unknown) => {
        content = undefined; // there may be no file descriptor left now, and one the next time
        throw error;
      },
    );
    context.body = await content;
  };
}
