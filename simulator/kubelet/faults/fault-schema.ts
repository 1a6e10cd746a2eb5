import { z } from 'zod';
import { blackHole } from './black-hole.ts';
import { breakTls } from './break-tls.ts';
import { changeTypes } from './change-types.ts';
import { delay } from './delay.ts';
import { drip } from './drip.ts';
import { endlessBody } from './endless-body.ts';
import type { Fault } from './fault.ts';
import { gzipBomb } from './gzip-bomb.ts';
import { hang } from './hang.ts';
import { hangUp } from './hang-up.ts';
import { hugeBody } from './huge-body.ts';
import { nestDeeply } from './nest-deeply.ts';
import { refuse } from './refuse.ts';
import { resetMidBody } from './reset-mid-body.ts';
import { respondGarbage } from './respond-garbage.ts';
import { respondStatus } from './respond-status.ts';
import { spoilText } from './spoil-text.ts';
import { stall } from './stall.ts';
import { truncateBody } from './truncate-body.ts';

const PLAIN_FAULTS = {
  refuse,
  'black-hole': blackHole,
  hang,
  'hang-up': hangUp,
  'break-tls': breakTls,
  garbage: respondGarbage,
  truncate: truncateBody,
  'wrong-types': changeTypes,
  'spoiled-text': spoilText,
  stall,
  endless: endlessBody,
  'reset-mid-body': resetMidBody,
} as const satisfies Record<string, Fault>;

const plainName = z.enum(
  Object.keys(PLAIN_FAULTS) as [keyof typeof PLAIN_FAULTS, ...(keyof typeof PLAIN_FAULTS)[]],
);

/** How a scenario writes a fault: a name, or an object with what the fault needs to know. */
export const faultSchema = z
  .union([
    plainName,
    z.strictObject({
      status: z.number().int().min(200).max(599),
      headers: z.record(z.string(), z.string()).optional(),
    }),
    z.strictObject({ delayMs: z.number().nonnegative() }),
    z.strictObject({ dripBytesPerSecond: z.number().positive() }),
    z.strictObject({ bodyBytes: z.number().int().min(2) }),
    z.strictObject({ nestingLevels: z.number().int().positive() }),
    z.strictObject({ gzipBombMebibytes: z.number().int().positive() }),
  ])
  .transform((written): Fault => {
    if (typeof written === 'string') return PLAIN_FAULTS[written];
    if ('status' in written) return respondStatus(written.status, written.headers);
    if ('delayMs' in written) return delay(written.delayMs);
    if ('bodyBytes' in written) return hugeBody(written.bodyBytes);
    if ('nestingLevels' in written) return nestDeeply(written.nestingLevels);
    if ('gzipBombMebibytes' in written) return gzipBomb(written.gzipBombMebibytes);
    return drip(written.dripBytesPerSecond);
  });

/** A fault, or what a scenario writes for one. */
export type FaultInput = Fault | z.input<typeof faultSchema>;

/** @throws ZodError when it is neither */
export function faultOf(input: FaultInput): Fault {
  return isFault(input) ? input : faultSchema.parse(input);
}

function isFault(input: FaultInput): input is Fault {
  if (typeof input === 'string') return false;
  return Object.values(input).some((one) => typeof one === 'function');
}
