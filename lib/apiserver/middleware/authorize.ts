import type { Attributes, Authorizer, Decision } from '#lib/apiserver/access/authorizer.ts';
import type { ApiContext, Middleware } from '#lib/apiserver/http/api-context.ts';
import { forbidden } from '#lib/apiserver/http/status-error.ts';
import { goQuote } from '#lib/kubernetes/selectors/go-quote.ts';

/** Responds with 403 to requests that their user may not make. */
export function authorize(authorizer: Authorizer): Middleware {
  return (context, next) => {
    const proceed = (decision: Decision) => {
      enforce(context, decision);
      return next();
    };
    const decision = decide(context, authorizer);
    return decision instanceof Promise ? decision.then(proceed) : proceed(decision);
  };
}

function decide(context: ApiContext, authorizer: Authorizer): ReturnType<Authorizer> {
  const { user, info, deadline } = context.state;
  const fail = (error: unknown): never => {
    forbidSniffing(context);
    throw error;
  };
  try {
    const decision = authorizer({ user, info, signal: () => deadline.signal });
    return decision instanceof Promise ? decision.catch(fail) : decision;
  } catch (error) {
    return fail(error);
  }
}

function enforce(context: ApiContext, { isAllowed, reason }: Decision): void {
  if (isAllowed) return;
  forbidSniffing(context);
  const { user, info } = context.state;
  const refusal = escapeHtml(describeRefusal({ user, info }));
  throw forbidden(info.isResourceRequest ? { group: info.apiGroup, resource: info.resource } : undefined, {
    name: info.isResourceRequest ? info.name : '',
    reason: reason ? `${refusal}: ${reason}` : refusal,
  });
}

/** The response quotes what the caller sent. */
function forbidSniffing(context: ApiContext): void {
  context.set('X-Content-Type-Options', 'nosniff');
}

function describeRefusal({ user, info }: Attributes): string {
  const subject = `User ${goQuote(user.name)} cannot ${info.verb}`;
  if (!info.isResourceRequest) return `${subject} path ${goQuote(info.path)}`;
  const { resource, subresource, apiGroup, namespace } = info;
  const what = goQuote(subresource === '' ? resource : `${resource}/${subresource}`);
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${goQuote(namespace)}`;
  return `${subject} resource ${what} in API group ${goQuote(apiGroup)} ${where}`;
}

/** As Kubernetes does, since the sentence quotes what the caller sent. */
function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
