import type { Fault } from './fault.ts';

/** JSON of the right shape in which every text is a number and every number a text. */
export const changeTypes: Fault = {
  change: (reply) => ({
    ...reply,
    body: Buffer.from(
      JSON.stringify(JSON.parse(reply.body.toString()), (_name, value: unknown) => {
        if (typeof value === 'string') return value.length;
        return typeof value === 'number' ? String(value) : value;
      }),
    ),
  }),
};
