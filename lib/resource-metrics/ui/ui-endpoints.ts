import type { Endpoint } from '#lib/apiserver/http/api-context.ts';
import { pageFile, SHARED_STYLE } from '#lib/ui/page-endpoint.ts';

const SCRIPTS = ['page.js', 'elements.js', 'quantities.js', 'recent-usage.js', 'sortable-table.js'];

/** The page that shows nodes and pods live: it asks `/debug/`, with a token that its reader brings. */
export function uiEndpoints(): ReadonlyMap<string, Endpoint> {
  return new Map([
    ['/ui', pageFile('html', ownFile('page.html'))],
    ['/ui/page.css', pageFile('css', SHARED_STYLE, ownFile('page.css'))],
    ...SCRIPTS.map((file) => [`/ui/${file}`, pageFile('js', ownFile(file))] as const),
  ]);
}

/** The paths of the page, which holds no data: nobody needs a permission to get them. */
export const UI_PATHS: readonly string[] = [...uiEndpoints().keys()];

/** The bundle has the folder beside it. */
function ownFile(file: string): URL {
  return new URL(`./page/${file}`, import.meta.url);
}
