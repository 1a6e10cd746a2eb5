import { conflict } from '../status.ts';
import type { ApiFault } from './api-fault.ts';

const WRITES = ['update', 'patch'];

/** Refuses the first writes of existing objects as if somebody else had just written them. */
export function conflictWrites(count: number): ApiFault {
  let remaining = count;
  return {
    serve: async ({ verb, target }, { next }) => {
      if (!target.isResource || !WRITES.includes(verb) || remaining === 0) return next();
      remaining--;
      throw conflict(
        target,
        target.name ?? '',
        'the object has been modified; please apply your changes to the latest version and try again',
      );
    },
  };
}
