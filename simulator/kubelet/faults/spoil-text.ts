import type { Fault } from './fault.ts';

const NUL = 0x00;
const NEVER_UTF8 = 0xff;
const EVERY = 97;

/** Bytes here and there that are NUL or that no UTF-8 text has, as from a broken disk. */
export const spoilText: Fault = {
  change: (reply) => {
    const body = Buffer.from(reply.body);
    for (let index = EVERY; index < body.length; index += EVERY) {
      body[index] = index % 2 === 0 ? NUL : NEVER_UTF8;
    }
    return { ...reply, body };
  },
};
