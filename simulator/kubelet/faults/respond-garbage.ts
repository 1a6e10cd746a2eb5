import type { Fault } from './fault.ts';

/** A successful response whose body is neither JSON nor an exposition, and not even UTF-8. */
export const respondGarbage: Fault = {
  change: (reply) => ({
    ...reply,
    body: Buffer.from('\x00\xff\xfe<html>no kubelet here</html>', 'latin1'),
  }),
};
