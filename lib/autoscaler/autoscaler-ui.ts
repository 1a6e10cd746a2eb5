import { debugEndpoint } from '#lib/apiserver/debug-endpoint.ts';
import type { Endpoint } from '#lib/apiserver/http/api-context.ts';
import type { ServedSubsystem } from '#lib/apiserver/subsystems.ts';
import { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import { runForTenant } from '#lib/concurrency/tenant.ts';
import type { ScaleClient } from '#lib/control/scale-client.ts';
import type { ComposerWork } from '#lib/ui/composer.ts';
import { signInShell } from '#lib/ui/page.ts';
import { OBJECTS_STYLE, pageFile, SHARED_STYLE, securePage, sharedScript } from '#lib/ui/page-endpoint.ts';
import type { AutoscalerUiSource, ControllersState } from './render-page.ts';

const HTML = 'text/html; charset=utf-8';
const PAGE = '/ui';
const STYLE = '/ui/page.css';
const FORM = '/ui/new';
const SCRIPTS = ['elements.js', 'sign-in.js', 'signed-in-pages.js', 'copy.js'] as const;

/**
 * The HTML pages of the autoscaler: `/ui`, and `/ui/new`, which makes YAML of objects from a form. They require `get` of their paths, and no scripts where each request has credentials, as behind
 * `kubectl proxy`. Other browsers get a form for a token; its scripts and the style sheet have no data and are public.
 */
export function autoscalerUi(
  source: AutoscalerUiSource & {
    readonly scales: ScaleClient;
    readonly hasPrometheusServer: boolean;
  },
): ServedSubsystem {
  const page: Endpoint = async (context) => {
    securePage(context, HTML, { takesForms: true });
    const { renderPage } = await import('./render-page.ts'); // loaded on first use
    context.body = await renderPage(context.state.query, source);
  };
  const share = new EventLoopShare(source.clock);
  const form: Endpoint = async (context) => {
    securePage(context, HTML, { takesForms: true });
    const { query, deadline, user } = context.state;
    const { describeTarget, renderCompose } = await import('./compose-page.ts'); // loaded on first use
    const { signal } = deadline;
    const { scales, clock, hasPrometheusServer } = source;
    const work: ComposerWork = {
      ...{ signal, nowMs: clock.nowMs(), hasPrometheusServer, turn: () => share.next(signal) },
      checkTarget: (target) => describeTarget(target, { scales, clock, signal }),
    };
    context.body = await runForTenant(user.name, () => renderCompose(query, source.parts, work));
  };
  return {
    groups: [],
    healthChecks: [],
    endpoints: new Map<string, Endpoint>([
      [PAGE, page],
      [FORM, form],
      [STYLE, pageFile('css', SHARED_STYLE, OBJECTS_STYLE)],
      ...SCRIPTS.map((file) => [`/ui/${file}`, sharedScript(file)] as const),
    ]),
    openPaths: [STYLE, ...SCRIPTS.map((file) => `/ui/${file}`)],
    signIn: { paths: [PAGE, FORM], form: signInPage },
    start: () => {},
    [Symbol.asyncDispose]: async () => {},
  };
}

/** The form for a token, which then loads the page that the address names. */
const signInPage: Endpoint = (context) => {
  securePage(context, HTML);
  const isForm = context.state.info.path === FORM;
  context.body = Buffer.from(signInShell('autoscaler', { isForm }).toString());
};

/** `/debug/controllers`: the controllers of this replica, and the leader. */
export function debugControllers(state: () => ControllersState): Endpoint {
  return debugEndpoint([], state);
}
