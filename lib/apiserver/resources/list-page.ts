import type { ListMeta } from '#lib/apiserver/encoding/object-meta.ts';
import { badRequest } from '#lib/apiserver/http/status-error.ts';
import type { ListOptions } from './list-options.ts';
import { countSelected, type Selection, takeSelected } from './selection.ts';
import type { ServedObject } from './served-object.ts';

/**
 * Returns a predicate for the objects of a list: those that both selectors match, after the previous page.
 *
 * @returns `undefined` for all objects
 * @throws {StatusError} 400 for a malformed token
 */
export function buildMatcher(options: ListOptions): ((object: ServedObject) => boolean) | undefined {
  const { labelSelector, fieldSelector } = options;
  const tests: ((object: ServedObject) => boolean)[] = [];
  if (options.continue !== '') {
    const position = parseContinueToken(options.continue);
    tests.push((object) => isBehind(object, position));
  }
  if (fieldSelector.requirements.length > 0) {
    tests.push(({ name, namespace = '' }) =>
      fieldSelector.matches({ 'metadata.name': name, 'metadata.namespace': namespace }),
    );
  }
  if (labelSelector.requirements.length > 0) {
    tests.push(matchOncePerLabels((labels) => labelSelector.matches(labels)));
  }
  const [first, ...others] = tests;
  if (!first) return undefined;
  return others.length === 0 ? first : (object) => tests.every((test) => test(object));
}

/** Evaluates the selector once for consecutive objects with the same labels, as those of one workload have. */
function matchOncePerLabels(
  matches: (labels: ServedObject['labels']) => boolean,
): (object: ServedObject) => boolean {
  let last: ServedObject['labels'] | undefined;
  let isMatch = false;
  return ({ labels }) => {
    if (labels !== last) {
      isMatch = matches(labels);
      last = labels;
    }
    return isMatch;
  };
}

/** Position of an object: objects are sorted by namespace, then by name. */
interface ObjectPosition {
  /** Empty for cluster-scoped resources. */
  readonly namespace: string;
  readonly name: string;
}

const VERSION = 'meta.k8s.io/v1';

/**
 * The token of the page after an object. It is the object's key alone: the next page continues after it in the current
 * state, at any replica, so changes in between do not make the listing fail.
 */
export function formatContinueToken({ namespace, name }: ObjectPosition): string {
  return Buffer.from(JSON.stringify({ v: VERSION, start: `${namespace}/${name}` })).toString('base64url');
}

/** @throws {StatusError} 400 for an invalid token */
export function parseContinueToken(token: string): ObjectPosition {
  const [namespace, name, ...rest] = readStart(token)?.split('/') ?? [];
  if (namespace === undefined || !name || rest.length > 0) {
    throw badRequest('invalid continue token: continue key is not valid: this server did not issue it');
  }
  return { namespace, name };
}

/** Whether an object comes after a position. */
export function isBehind(
  { namespace = '', name }: { readonly namespace: string | undefined; readonly name: string },
  position: ObjectPosition,
): boolean {
  return namespace === position.namespace ? name > position.name : namespace > position.namespace;
}

function readStart(token: string): string | undefined {
  try {
    const content: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
    if (typeof content !== 'object' || content === null) return undefined;
    const { v, start } = content as { readonly v?: unknown; readonly start?: unknown };
    return v === VERSION && typeof start === 'string' ? start : undefined;
  } catch {
    return undefined; // neither base64 nor JSON
  }
}

/** One page of the selected objects, with the list's metadata about the rest. */
export interface Page {
  readonly selection: Selection;
  readonly metadata: Pick<ListMeta, 'continue' | 'remainingItemCount'>;
}

/**
 * Cuts the first page off.
 *
 * @param limit 0 for everything
 * @param countsRemaining whether the number of the remaining objects is set: Kubernetes does so for lists without
 * selectors
 */
export function cutPage(
  selection: Selection,
  { limit, countsRemaining }: { readonly limit: number; readonly countsRemaining: boolean },
): Page {
  const remaining = limit > 0 ? countSelected(selection) - limit : 0;
  if (remaining <= 0) return { selection, metadata: {} };
  const page = takeSelected(selection, limit);
  const last = lastSelected(page);
  return {
    selection: page,
    metadata: {
      ...(last && { continue: formatContinueToken(last) }),
      ...(countsRemaining && { remainingItemCount: remaining }),
    },
  };
}

function lastSelected(selection: Selection): ObjectPosition | undefined {
  const { block, ranges } = selection.at(-1) ?? {};
  const last: ServedObject | undefined = block?.[(ranges?.at(-1)?.end ?? 0) - 1];
  return last && { namespace: last.namespace ?? '', name: last.name };
}
