import { stringify } from 'yaml';
import { notFound } from '#lib/apiserver/http/status-error.ts';
import type { ScaleClient, ScaleTarget } from '#lib/control/scale-client.ts';
import { checkTargetExists, checkTargetKind } from '#lib/control/target-check.ts';
import { unchecked } from '#lib/doctor/check.ts';
import { requirePermission } from '#lib/doctor/cluster-context.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import type { Composer, ComposerWork, Composition } from '#lib/ui/composer.ts';
import { type Html, html } from '#lib/ui/html.ts';
import { pageShell, type UiPart } from '#lib/ui/page.ts';
import { readPageQuery } from '#lib/ui/page-query.ts';

/** HPAs are composed even if their controller does not run; other kinds only by their subsystem. */
const HPA_COMPOSER: Composer = {
  kind: 'hpa',
  title: 'HPA',
  async compose(query, work) {
    const { composeHpa } = await import('#lib/hpa/explain/compose-hpa.ts');
    return await composeHpa(query, work, undefined);
  },
};

/** Renders the form of a kind, its manifest, and what the object would do. Writes nothing. */
export async function renderCompose(
  query: URLSearchParams,
  parts: readonly UiPart[],
  work: ComposerWork,
): Promise<Buffer> {
  const own = parts.flatMap(({ composer }) => composer ?? []);
  const hpa = own.find((one) => one.kind === HPA_COMPOSER.kind) ?? HPA_COMPOSER;
  const composers = [hpa, ...own.filter((one) => one !== hpa)];
  const kind = query.get('kind') ?? HPA_COMPOSER.kind;
  const composer = composers.find((one) => one.kind === kind);
  if (!composer) throw notFound({ group: '', resource: 'kinds' }, kind.slice(0, 100));
  const composition = await composer.compose(query, work);
  const views = parts.map(({ view }) => view);
  const page = pageShell({
    ...{ program: 'autoscaler', title: `New ${composer.title}`, nowMs: work.nowMs },
    query: readPageQuery(new URLSearchParams({ view: 'new' }), views),
    links: [{ view: '', title: 'Overview' }, ...parts.map(({ view, title }) => ({ view, title }))],
    isForm: true,
    body: renderBody(composition, { composer, composers, isEntered: query.has('name') }),
  });
  return Buffer.from(page.toString());
}

interface BodyOptions {
  readonly composer: Composer;
  readonly composers: readonly Composer[];
  readonly isEntered: boolean;
}

function renderBody(composition: Composition, { composer, composers, isEntered }: BodyOptions): Html {
  const kinds = composers.map(({ kind, title }) =>
    kind === composer.kind
      ? html`<a href="?kind=${kind}" aria-current="page">${title}</a> `
      : html`<a href="?kind=${kind}">${title}</a> `,
  );
  return html`<section>
<div class="bar"><h2>New object</h2><nav class="kinds" aria-label="Kinds">${kinds}</nav></div>
<p class="hint">This form makes the YAML of an object. It never writes to the cluster.</p>
<form class="compose" method="get">
<input type="hidden" name="kind" value="${composer.kind}">
${composition.fields}
<div class="form-field"><button class="primary">Make YAML</button></div>
</form>
</section>
${isEntered && renderResult(composition)}`;
}

function renderResult({ problems, warnings, manifest, preview }: Composition): Html {
  if (!manifest) {
    const items = problems.map((problem) => html`<li>${problem}</li>`);
    return html`<section role="alert"><h2>Not valid yet</h2>
<ul class="problems">${items.length > 0 ? items : html`<li>Correct the marked fields.</li>`}</ul></section>`;
  }
  const yaml = stringify(manifest, { lineWidth: 0 });
  return html`<section>
<div class="bar"><h2>YAML</h2><button type="button" data-copy="yaml">Copy YAML</button><button type="button" data-copy="command">Copy kubectl command</button></div>
${warnings.map((warning) => html`<p class="warning">${warning}</p>`)}
<pre id="yaml" class="why">${yaml}</pre>
<pre id="command" hidden>kubectl apply -f - &lt;&lt;'EOF'
${yaml}EOF
</pre>
<p class="hint">Or pipe the YAML to <code>kubectl apply -f -</code>.</p>
</section>
<section>
<div class="bar"><h2>Preview</h2></div>
${preview}
</section>`;
}

/** Limits how long a form waits for the API server. */
const TARGET_TIMEOUT_MS = 2000;

/**
 * Checks a target as the doctor does, with the permissions of the autoscaler.
 *
 * @returns why it cannot be scaled, or could not be checked; `undefined` if it can be scaled
 * @throws the reason of the signal
 */
export async function describeTarget(
  target: ScaleTarget,
  {
    scales,
    clock,
    signal,
  }: { readonly scales: ScaleClient; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const expired = () => new Error('the API server does not respond');
  using deadline = startDeadline(clock, TARGET_TIMEOUT_MS, { signal, expired });
  try {
    const found = await checkTargetKind(target, scales, deadline.signal);
    if (found.problem !== undefined) return found.problem;
    const { resource } = found;
    const { problem } = await requirePermission(`get ${resource.plural}/scale`, () =>
      checkTargetExists(target, { resource, scales, signal: deadline.signal }),
    );
    return problem;
  } catch (error) {
    signal.throwIfAborted();
    return `The target could not be checked: ${unchecked(target.name, error).seen}`;
  }
}
