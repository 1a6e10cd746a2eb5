import { isProbe } from '#lib/apiserver/health.ts';
import { ANONYMOUS, type Middleware } from '#lib/apiserver/http/api-context.ts';
import type { KnownFor } from '#lib/apiserver/serving/known-addresses.ts';

/** Tells where somebody asks from who has proved who they are, and where probes come from: these have places reserved. */
export function recogniseAddress(
  note: (address: string | undefined, knownFor: KnownFor) => void,
): Middleware {
  return (context) => {
    const { info, user } = context.state;
    if (user.name !== ANONYMOUS.name) note(context.req.socket.remoteAddress, 'user');
    else if (isProbe(info)) note(context.req.socket.remoteAddress, 'probe');
  };
}
