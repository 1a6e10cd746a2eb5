import { methodNotAllowed } from '#lib/apiserver/errors/failures.ts';
import type { ApiContext } from '#lib/apiserver/http/api-context.ts';

/** Nothing is fetched from elsewhere or run but what comes from here, and nobody can frame the page. */
const policy = (formAction: "'none'" | "'self'") =>
  [
    "default-src 'none'",
    ...["script-src 'self'", "style-src 'self'", "connect-src 'self'", 'img-src data:'],
    ...["base-uri 'none'", `form-action ${formAction}`, "frame-ancestors 'none'"],
  ].join('; ');

/**
 * Sets what browsers have to know of a part of a page: its type, that it is nothing else, and that nothing comes in from
 * elsewhere.
 *
 * @param options.takesForms whether it has forms, which lead to itself; by default none may be sent
 * @throws {StatusError} for other methods than GET and HEAD
 */
export function securePage(
  context: ApiContext,
  mediaType: string,
  { takesForms = false }: { readonly takesForms?: boolean } = {},
): void {
  if (context.method !== 'GET' && context.method !== 'HEAD') throw methodNotAllowed();
  context.set('Content-Type', mediaType);
  context.set('Content-Security-Policy', policy(takesForms ? "'self'" : "'none'"));
  context.set('X-Content-Type-Options', 'nosniff');
  context.set('Referrer-Policy', 'no-referrer');
}
