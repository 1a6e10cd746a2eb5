import { isBehind, parseContinueToken } from './continue-token.ts';
import type { ListOptions } from './list-options.ts';
import type { ServedObject } from './served-object.ts';

/**
 * Tells which objects a list is about: those that both selectors match, behind the page before.
 *
 * @returns `undefined` for all of them
 * @throws {StatusError} 400 for a malformed token
 */
export function wantedBy(options: ListOptions): ((object: ServedObject) => boolean) | undefined {
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
    tests.push(rememberingLabels((labels) => labelSelector.matches(labels)));
  }
  const [first, ...others] = tests;
  if (!first) return undefined;
  return others.length === 0 ? first : (object) => tests.every((test) => test(object));
}

/** The objects of a workload follow one another and share their labels: they are asked about once. */
function rememberingLabels(
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
