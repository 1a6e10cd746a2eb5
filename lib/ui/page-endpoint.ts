import { readFile } from 'node:fs/promises';
import type { ApiContext, Endpoint } from '#lib/apiserver/http/api-context.ts';
import { methodNotAllowed } from '#lib/apiserver/http/status-error.ts';

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

/** Nothing is fetched from elsewhere or run but what comes from here, and nobody can frame the page. */
const policy = (formAction: "'none'" | "'self'") =>
  [
    "default-src 'none'",
    ...["script-src 'self'", "style-src 'self'", "connect-src 'self'", 'img-src data:'],
    ...["base-uri 'none'", `form-action ${formAction}`, "frame-ancestors 'none'"],
  ].join('; ');

/**
 * Sets what browsers have to know of a part of a page: its type, that it is nothing else, and that nothing comes in from
 * elsewhere.
 *
 * @param options.takesForms whether it has forms, which lead to itself; by default none may be sent
 * @throws {StatusError} for other methods than GET and HEAD
 */
export function securePage(
  context: ApiContext,
  mediaType: string,
  { takesForms = false }: { readonly takesForms?: boolean } = {},
): void {
  if (context.method !== 'GET' && context.method !== 'HEAD') throw methodNotAllowed();
  context.set('Content-Type', mediaType);
  context.set('Content-Security-Policy', policy(takesForms ? "'self'" : "'none'"));
  context.set('X-Content-Type-Options', 'nosniff');
  context.set('Referrer-Policy', 'no-referrer');
}
