import { debugEndpoint } from '#lib/apiserver/debug-endpoint.ts';
import type { Endpoint } from '#lib/apiserver/http/api-context.ts';
import type { ServedSubsystem } from '#lib/apiserver/subsystems.ts';
import { pageFile, SHARED_STYLE, securePage } from '#lib/ui/page-endpoint.ts';
import type { AutoscalerUiSource, ControllersState } from './render-page.ts';

const PAGE = '/ui';
const STYLE = '/ui/page.css';

/**
 * The page of the autoscaler: what runs, and what each part has to show, as HTML without scripts. Who may get `/ui` may see
 * it; the style holds no data, and is everybody's.
 */
export function autoscalerUi(source: AutoscalerUiSource): ServedSubsystem {
  const page: Endpoint = async (context) => {
    securePage(context, 'text/html; charset=utf-8', { takesForms: true });
    const { renderPage } = await import('./render-page.ts'); // nothing of it is loaded before somebody looks
    context.body = await renderPage(context.state.query, source);
  };
  return {
    groups: [],
    healthChecks: [],
    endpoints: new Map([
      [PAGE, page],
      [STYLE, pageFile('css', SHARED_STYLE, new URL('./page/autoscaler.css', import.meta.url))],
    ]),
    openPaths: [STYLE],
    browserPaths: [PAGE],
    start: () => {},
    [Symbol.asyncDispose]: async () => {},
  };
}

/** `/debug/controllers`: which controllers run here, and whether this replica acts or which other does. */
export function debugControllers(state: () => ControllersState): Endpoint {
  return debugEndpoint([], state);
}
