import { debugEndpoint } from '#lib/apiserver/debug-endpoint.ts';
import type { Endpoint } from '#lib/apiserver/http/api-context.ts';
import type { ServedSubsystem } from '#lib/apiserver/subsystems.ts';
import { signInShell } from '#lib/ui/page.ts';
import { OBJECTS_STYLE, pageFile, SHARED_STYLE, securePage, sharedScript } from '#lib/ui/page-endpoint.ts';
import type { AutoscalerUiSource, ControllersState } from './render-page.ts';

const PAGE = '/ui';
const STYLE = '/ui/page.css';
const SCRIPTS = ['elements.js', 'sign-in.js', 'signed-in-pages.js'] as const;

/**
 * The HTML page of the autoscaler. It requires `get` of `/ui`, and no scripts where each request has credentials, as behind
 * `kubectl proxy`. Other browsers get a form for a token; its scripts and the style sheet have no data and are public.
 */
export function autoscalerUi(source: AutoscalerUiSource): ServedSubsystem {
  const page: Endpoint = async (context) => {
    securePage(context, 'text/html; charset=utf-8', { takesForms: true });
    const { renderPage } = await import('./render-page.ts'); // loaded on first use
    context.body = await renderPage(context.state.query, source);
  };
  return {
    groups: [],
    healthChecks: [],
    endpoints: new Map([
      [PAGE, page],
      [STYLE, pageFile('css', SHARED_STYLE, OBJECTS_STYLE)],
      ...SCRIPTS.map((file) => [`/ui/${file}`, sharedScript(file)] as const),
    ]),
    openPaths: [STYLE, ...SCRIPTS.map((file) => `/ui/${file}`)],
    signIn: { paths: [PAGE], form: signInPage },
    start: () => {},
    [Symbol.asyncDispose]: async () => {},
  };
}

/** The form for a token, which then loads the page that the address names. */
const signInPage: Endpoint = (context) => {
  securePage(context, 'text/html; charset=utf-8');
  context.body = Buffer.from(signInShell('autoscaler').toString());
};

/** `/debug/controllers`: the controllers of this replica, and the leader. */
export function debugControllers(state: () => ControllersState): Endpoint {
  return debugEndpoint([], state);
}
