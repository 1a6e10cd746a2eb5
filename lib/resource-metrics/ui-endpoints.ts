import type { Endpoint } from '#lib/apiserver/http/api-context.ts';
import { pageFile, SHARED_STYLE, sharedScript } from '#lib/ui/page-endpoint.ts';

const SCRIPTS = ['page.js', 'quantities.js', 'recent-usage.js', 'sortable-table.js'];
const SHARED_SCRIPTS = ['elements.js', 'sign-in.js'] as const;

/** A live page of nodes and pods, which queries `/debug/` as the user of a proxy, or with a token that the user enters. */
export function uiEndpoints(): ReadonlyMap<string, Endpoint> {
  return new Map([
    ['/ui', pageFile('html', ownFile('page.html'))],
    ['/ui/page.css', pageFile('css', SHARED_STYLE, ownFile('page.css'))],
    ...SCRIPTS.map((file) => [`/ui/${file}`, pageFile('js', ownFile(file))] as const),
    ...SHARED_SCRIPTS.map((file) => [`/ui/${file}`, sharedScript(file)] as const),
  ]);
}

/** Need no permission, since the page contains no data. */
export const UI_PATHS: readonly string[] = [...uiEndpoints().keys()];

/** In the bundle, the folder is beside the chunk. */
function ownFile(file: string): URL {
  return new URL(`./page/${file}`, import.meta.url);
}
