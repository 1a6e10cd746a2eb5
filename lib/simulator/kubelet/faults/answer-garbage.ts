import type { Fault } from './fault.ts';

/** A successful answer whose body is neither JSON nor an exposition, and not even UTF-8. */
export const answerGarbage: Fault = {
  change: (answer) => ({
    ...answer,
    body: Buffer.from('\x00\xff\xfe<html>no kubelet here</html>', 'latin1'),
  }),
};
