import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { isRecord } from '../schema/schema.ts';

const operations = z.array(
  z.looseObject({
    op: z.enum(['add', 'remove', 'replace', 'move', 'copy', 'test']),
    path: z.string(),
    from: z.string().optional(),
    value: z.unknown().optional(),
  }),
);

/** Why a patch can't be applied: it is no patch, or the object is not as it expects. */
export class PatchError extends Error {
  /** Whether the patch is well-formed and the object is in its way. */
  readonly isAboutObject: boolean;

  constructor(message: string, { isAboutObject }: { readonly isAboutObject: boolean }) {
    super(message);
    this.isAboutObject = isAboutObject;
  }
}

/**
 * Applies a JSON patch (RFC 6902), all of it or nothing.
 *
 * @throws PatchError naming the path
 */
export function jsonPatch(target: unknown, patch: unknown): unknown {
  const parsed = operations.safeParse(patch);
  if (!parsed.success)
    throw new PatchError(`error decoding patch: ${parsed.error.issues[0]?.message}`, {
      isAboutObject: false,
    });
  let result = structuredClone(target);
  for (const { op, path, from = '', value } of parsed.data) {
    switch (op) {
      case 'test': {
        const found = valueAt(result, path);
        if (!isDeepStrictEqual(found ?? null, value ?? null))
          throw impossible(`testing value ${path} failed: test failed`);
        break;
      }
      case 'move': {
        const moved = required(result, from);
        result = put(take(result, from), path, moved);
        break;
      }
      case 'copy':
        result = put(result, path, structuredClone(required(result, from)));
        break;
      case 'remove':
        result = take(result, path);
        break;
      case 'replace':
        required(result, path);
        result = put(path === '' ? result : take(result, path), path, value);
        break;
      case 'add':
        result = put(result, path, value);
        break;
    }
  }
  return result;
}

function stepsOf(pointer: string): readonly string[] {
  if (pointer === '') return [];
  if (!pointer.startsWith('/'))
    throw new PatchError(`invalid path ${JSON.stringify(pointer)}`, { isAboutObject: false });
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function valueAt(target: unknown, pointer: string): unknown {
  let current = target;
  for (const step of stepsOf(pointer)) {
    if (Array.isArray(current)) current = current[Number(step)];
    else current = isRecord(current) && Object.hasOwn(current, step) ? current[step] : undefined;
  }
  return current;
}

function required(target: unknown, pointer: string): unknown {
  const found = valueAt(target, pointer);
  if (found === undefined) throw impossible(`doc is missing path: ${pointer}: missing value`);
  return found;
}

/** Changes the value in place: {@link jsonPatch} works on a copy. */
function take(target: unknown, pointer: string): unknown {
  required(target, pointer);
  const { parent, step } = parentOf(target, pointer);
  if (Array.isArray(parent)) parent.splice(Number(step), 1);
  else delete (parent as Record<string, unknown>)[step];
  return target;
}

function put(target: unknown, pointer: string, value: unknown): unknown {
  if (pointer === '') return value;
  const { parent, step } = parentOf(target, pointer);
  if (!Array.isArray(parent)) {
    Object.defineProperty(parent, step, { value, enumerable: true, configurable: true, writable: true });
    return target;
  }
  const index = step === '-' ? parent.length : Number(step);
  if (!/^(-|\d+)$/.test(step) || index > parent.length)
    throw impossible(`index ${step} of ${pointer} is out of range`);
  parent.splice(index, 0, value);
  return target;
}

function parentOf(target: unknown, pointer: string): { readonly parent: object; readonly step: string } {
  const cut = pointer.lastIndexOf('/');
  const parent = valueAt(target, pointer.slice(0, cut));
  const step = stepsOf(pointer).at(-1);
  if (typeof parent !== 'object' || parent === null || step === undefined)
    throw impossible(`doc is missing path: ${pointer}: missing value`);
  return { parent, step };
}

function impossible(message: string): PatchError {
  return new PatchError(message, { isAboutObject: true });
}
