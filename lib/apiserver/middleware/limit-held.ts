import type { ApiContext, Middleware } from '#lib/apiserver/http/api-context.ts';
import type { DeliveryGate } from '#lib/apiserver/http/delivery-gate.ts';
import { ANONYMOUS } from '#lib/apiserver/http/user.ts';

/** Has responses count for the user who asked for them, or for the address where nobody knows the user. */
export function limitHeld(gate: DeliveryGate): Middleware {
  return (context) => {
    const { state, res } = context;
    const held = gate.enter(partyOf(context), () => res.destroy());
    state.held = held;
    state.end.whenOver(() => held[Symbol.dispose]());
  };
}

function partyOf({ req, state }: ApiContext): string {
  const { name } = state.user;
  return name === ANONYMOUS.name ? `address ${req.socket.remoteAddress}` : `user ${name}`;
}
