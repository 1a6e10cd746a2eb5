import { debugEndpoint } from '#lib/apiserver/debug-endpoint.ts';
import type { Endpoint } from '#lib/apiserver/http/api-context.ts';
import type { ServedSubsystem } from '#lib/apiserver/subsystems.ts';
import { OBJECTS_STYLE, pageFile, SHARED_STYLE, securePage } from '#lib/ui/page-endpoint.ts';
import type { AutoscalerUiSource, ControllersState } from './render-page.ts';

const PAGE = '/ui';
const STYLE = '/ui/page.css';

/**
 * The HTML page of the autoscaler, without scripts. Requires `get` of `/ui`; the style sheet has no data and is public.
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
    ]),
    openPaths: [STYLE],
    browserPaths: [PAGE],
    start: () => {},
    [Symbol.asyncDispose]: async () => {},
  };
}

/** `/debug/controllers`: the controllers of this replica, and the leader. */
export function debugControllers(state: () => ControllersState): Endpoint {
  return debugEndpoint([], state);
}
