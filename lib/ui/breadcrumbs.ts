import { type Html, html } from './html.ts';
import { type PageQuery, pageAddress } from './page-query.ts';

/** The way back from one object to the list of all, and to those of its namespace. */
export function breadcrumbs({ view, namespace, name, isStill }: PageQuery, title: string): Html {
  const all = pageAddress({ view, isStill });
  const ofNamespace = pageAddress({ view, namespace, isStill });
  return html`<p class="path"><a href="${all}">${title}</a> / <a href="${ofNamespace}">${namespace}</a> / <b>${name}</b></p>`;
}
