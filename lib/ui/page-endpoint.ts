import { readFile } from 'node:fs/promises';
import type { ApiContext, Endpoint } from '#lib/apiserver/http/api-context.ts';
import { methodNotAllowed } from '#lib/apiserver/http/status-error.ts';

/** Media types by extension; pages are text without data. */
const MEDIA_TYPES = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
} as const;

/** Shared by all pages; concatenate a page's own style to it. */
export const SHARED_STYLE = new URL('./page/style.css', import.meta.url);
/** Added by pages that link views, list objects and draw charts. */
export const OBJECTS_STYLE = new URL('./page/objects.css', import.meta.url);

/** A script that pages share: the form for a token, for example. */
export function sharedScript(
  file: 'elements.js' | 'sign-in.js' | 'signed-in-pages.js' | 'copy.js',
): Endpoint {
  return pageFile('js', new URL(`./page/${file}`, import.meta.url));
}

/** Serves concatenated files. Reads them at the first request, since most processes never serve them. */
export function pageFile(type: keyof typeof MEDIA_TYPES, ...files: readonly URL[]): Endpoint {
  let content: Promise<Buffer> | undefined;
  return async (context) => {
    securePage(context, MEDIA_TYPES[type]);
    content ??= Promise.all(files.map((file) => readFile(file))).then(
      (parts) => Buffer.concat(parts),
      (error: unknown) => {
        content = undefined; // read again at the next request: the process may lack file descriptors only now
        throw error;
      },
    );
    context.body = await content;
  };
}

/** Permits only this page's own resources and scripts, and no framing. */
const policy = (formAction: "'none'" | "'self'") =>
  [
    "default-src 'none'",
    ...["script-src 'self'", "style-src 'self'", "connect-src 'self'", 'img-src data:'],
    ...["base-uri 'none'", `form-action ${formAction}`, "frame-ancestors 'none'"],
  ].join('; ');

/**
 * Sets the security headers of a page and its media type.
 *
 * @param options.takesForms whether forms may be submitted to this origin; by default to none
 * @throws {StatusError} for methods other than GET and HEAD
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
