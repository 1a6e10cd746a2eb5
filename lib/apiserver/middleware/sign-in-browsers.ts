import { ANONYMOUS, type ApiContext, type Middleware } from '#lib/apiserver/http/api-context.ts';
import { StatusError } from '#lib/apiserver/http/status-error.ts';

/** What a browser shows with its form, and may take credentials again for. */
const CHALLENGE = 'Basic realm="A token as the password, any user name", charset="UTF-8"';

/**
 * Lets browsers open some paths with a token: they can send it only as the password of a form of theirs. On these paths a
 * password is taken for a bearer token, and who is not let in without one, or with one, is asked for one.
 */
export function signInBrowsers(paths: readonly string[], handle: Middleware): Middleware {
  const signedIn = new Set(paths);
  const signIn = async (context: ApiContext) => {
    const { headers } = context.req;
    const token = passwordIn(headers.authorization ?? '');
    if (token !== undefined) headers.authorization = `Bearer ${token}`;
    try {
      await handle(context);
    } catch (error) {
      if (!(error instanceof StatusError) || (error.code !== 401 && error.code !== 403)) throw error;
      // Who comes by another way, such as a certificate, would get nowhere with a password.
      if (error.code === 403 && token === undefined && context.state.user.name !== ANONYMOUS.name)
        throw error;
      context.set('WWW-Authenticate', CHALLENGE);
      throw new StatusError(401, 'Unauthorized', error.message);
    }
  };
  return (context) => (signedIn.has(context.state.info.path) ? signIn(context) : handle(context));
}

const BASIC = 'basic ';

/** The password of the scheme Basic, whose user name ends at the first colon. */
function passwordIn(header: string): string | undefined {
  if (header.slice(0, BASIC.length).toLowerCase() !== BASIC) return undefined;
  const text = Buffer.from(header.slice(BASIC.length), 'base64').toString('utf8');
  const end = text.indexOf(':');
  return end < 0 ? undefined : text.slice(end + 1);
}
