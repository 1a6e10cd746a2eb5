import { type Html, html } from './html.ts';
import type { PageQuery } from './page-query.ts';

/** A field for what is to be listed; sending it leads to the list of these. */
export function filterForm({ view, namespace, filter, isStill }: PageQuery): Html {
  return html`<form class="filter" role="search">
<input type="hidden" name="view" value="${view}">${isStill && html`<input type="hidden" name="refresh" value="off">`}
<input name="namespace" value="${namespace}" placeholder="namespace" aria-label="Namespace" autocomplete="off">
<input name="filter" type="search" value="${filter}" placeholder="part of name" aria-label="Part of namespace/name" autocomplete="off">
<button>Show</button>
</form>`;
}
