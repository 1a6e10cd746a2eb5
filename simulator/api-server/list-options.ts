import { type FieldSelector, parseFieldSelector } from '../objects/field-selector.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import { type LabelSelector, parseLabelSelector } from '../objects/label-selector.ts';
import { isTrue, type ResourceTarget } from './api-request.ts';
import { ApiError, badRequest } from './status.ts';

/** `metav1.ListOptions`, read and checked. */
export interface ListOptions {
  readonly namespace: string | undefined;
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
  /** `undefined` where the caller left it to the server. */
  readonly resourceVersion: number | undefined;
  readonly limit: number;
  readonly continueToken: string;
  readonly allowWatchBookmarks: boolean;
  readonly sendInitialEvents: boolean;
  readonly timeoutSeconds: number | undefined;
}

/** @throws ApiError 400 or 422 as the real server has it */
export function listOptions(target: ResourceTarget, query: URLSearchParams): ListOptions {
  const options = {
    namespace: target.namespace,
    labels: readOr400(() => parseLabelSelector(query.get('labelSelector') ?? '')),
    fields: readOr400(() => parseFieldSelector(query.get('fieldSelector') ?? '', target)),
    resourceVersion: resourceVersionOf(query.get('resourceVersion') ?? ''),
    limit: numberOf(query, 'limit') ?? 0,
    continueToken: query.get('continue') ?? '',
    allowWatchBookmarks: isTrue(query.get('allowWatchBookmarks')),
    sendInitialEvents: isTrue(query.get('sendInitialEvents')),
    timeoutSeconds: numberOf(query, 'timeoutSeconds'),
  };
  checkInitialEvents(query);
  return options;
}

/** Whether an object belongs into the response. */
export function isSelected({ namespace, labels, fields }: ListOptions, object: KubernetesObject): boolean {
  return (
    (namespace === undefined || object.metadata.namespace === namespace) &&
    labels.matches(object.metadata.labels ?? {}) &&
    fields.matches(object)
  );
}

function readOr400<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw badRequest(error instanceof Error ? error.message : String(error));
  }
}

function resourceVersionOf(text: string): number | undefined {
  if (text === '') return undefined;
  if (!/^\d+$/.test(text)) {
    throw badRequest(`Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`);
  }
  return Number(text);
}

function numberOf(query: URLSearchParams, key: string): number | undefined {
  const text = query.get(key);
  if (text === null || text === '') return undefined;
  if (!/^-?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing "${text}": invalid syntax`);
  return Number(text);
}

function checkInitialEvents(query: URLSearchParams): void {
  if (!query.has('sendInitialEvents')) {
    if (isTrue(query.get('watch')) && query.get('resourceVersionMatch')) {
      throw invalid('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided');
    }
    return;
  }
  if (!isTrue(query.get('watch'))) throw invalid('sendInitialEvents is forbidden for list');
  if (query.get('resourceVersionMatch') !== 'NotOlderThan') {
    throw invalid('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  }
}

function invalid(message: string): ApiError {
  return new ApiError(422, 'Invalid', `ListOptions.meta.k8s.io "" is invalid: ${message}`, {
    group: 'meta.k8s.io',
    kind: 'ListOptions',
    causes: [{ reason: 'FieldValueForbidden', message }],
  });
}
