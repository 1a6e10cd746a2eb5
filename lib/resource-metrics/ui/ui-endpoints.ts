import { readFile } from 'node:fs/promises';
import type { ApiContext, Endpoint } from '#lib/apiserver/http/api-context.ts';
import { methodNotAllowed } from '#lib/apiserver/http/failures.ts';

/** What the page consists of, by path. The bundle has the folder beside it. */
const FILES = {
  '/ui': ['page.html', 'text/html; charset=utf-8'],
  '/ui/page.css': ['page.css', 'text/css; charset=utf-8'],
  ...script('page.js'),
  ...script('elements.js'),
  ...script('quantities.js'),
  ...script('recent-usage.js'),
  ...script('sortable-table.js'),
} as const;

/** The paths of the page, which holds no data: nobody needs a permission to get them. */
export const UI_PATHS: readonly string[] = Object.keys(FILES);

/** Nothing is fetched from elsewhere or run but what comes from here, and nobody can frame the page. */
const POLICY = [
  "default-src 'none'",
  ...["script-src 'self'", "style-src 'self'", "connect-src 'self'", 'img-src data:'],
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join('; ');

/** The page that shows nodes and pods live: it asks `/debug/`, with a token that its reader brings. */
export function uiEndpoints(): ReadonlyMap<string, Endpoint> {
  return new Map(Object.entries(FILES).map(([path, [file, type]]) => [path, serveFile(file, type)]));
}

function serveFile(file: string, mediaType: string): Endpoint {
  let content: Promise<Buffer> | undefined; // read when it is first asked for: most servers never are
  return async (context: ApiContext) => {
    if (context.method !== 'GET' && context.method !== 'HEAD') throw methodNotAllowed();
    content ??= readFile(new URL(`./page/${file}`, import.meta.url));
    context.set('Content-Type', mediaType);
    context.set('Content-Security-Policy', POLICY);
    context.set('X-Content-Type-Options', 'nosniff');
    context.set('Referrer-Policy', 'no-referrer');
    context.body = await content;
  };
}

function script(file: string): Readonly<Record<string, readonly [string, string]>> {
  return { [`/ui/${file}`]: [file, 'text/javascript; charset=utf-8'] };
}
