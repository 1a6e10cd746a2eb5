import type { Clock } from '#lib/time/clock.ts';
import type { ObjectStore } from '../../objects/object-store.ts';
import { groupVersion, type ResourceRegistry, type ResourceType } from '../../resources/resource-type.ts';
import { unsupportedValue } from '../../resources/validate.ts';
import { type ApiRequest, isTrue, type ResourceTarget } from '../api-request.ts';
import { badRequest, invalidObject } from '../status.ts';
import type { FieldManager } from './managed-fields.ts';

export interface ResourceContext {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly registry: ResourceRegistry;
  /** The minor version of Kubernetes that it simulates. */
  readonly minor: number;
}

/** One request that writes an object. */
export interface ObjectWrite {
  readonly request: ApiRequest;
  readonly target: ResourceTarget;
  readonly type: ResourceType;
  readonly context: ResourceContext;
  readonly options: WriteOptions;
}

/** The first minor version of Kubernetes 1 whose managed fields have a subresource. */
const FIRST_WITH_SUBRESOURCES = 22;

/** The field manager of a write. */
export function managerOf(
  { type, target: { subresource }, context, options }: ObjectWrite,
  operation: FieldManager['operation'],
): FieldManager {
  const isRecorded = subresource !== undefined && context.minor >= FIRST_WITH_SUBRESOURCES;
  return {
    manager: options.fieldManager,
    operation,
    apiVersion: groupVersion(type),
    ...(isRecorded ? { subresource } : {}),
  };
}

/** `CreateOptions`, `UpdateOptions` and `PatchOptions` of meta.k8s.io, parsed and validated. */
interface WriteOptions {
  /** The object is validated and not stored. */
  readonly isDryRun: boolean;
  /** The name of the field manager. */
  readonly fieldManager: string;
  readonly isFieldManagerGiven: boolean;
  /** Takes over fields of other managers. */
  readonly force: boolean;
  /** How unknown fields are treated. */
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
}

/** @throws ApiError 400 or 422 for invalid options */
export function writeOptions({ query, raw, verb }: ApiRequest): WriteOptions {
  const kind =
    { create: 'CreateOptions', patch: 'PatchOptions', update: 'UpdateOptions' }[verb] ?? 'DeleteOptions';
  const dryRun = query.getAll('dryRun').filter((one) => one !== '');
  const unknown = dryRun.find((one) => one !== 'All');
  if (unknown !== undefined)
    throw invalidObject({ group: 'meta.k8s.io', kind }, '', [unsupportedValue('dryRun', unknown, ['All'])]);
  const fieldValidation = query.get('fieldValidation') || 'Warn';
  if (!isFieldValidation(fieldValidation))
    throw badRequest(`fieldValidation: Unsupported value: ${JSON.stringify(fieldValidation)}`);
  const given = query.get('fieldManager') ?? '';
  const [program = ''] = String(raw.headers['user-agent'] ?? '').split('/');
  return {
    isDryRun: dryRun.length > 0,
    fieldManager: given || program || 'unknown',
    isFieldManagerGiven: given !== '',
    force: isTrue(query.get('force')),
    fieldValidation,
  };
}

function isFieldValidation(text: string): text is WriteOptions['fieldValidation'] {
  return ['Ignore', 'Warn', 'Strict'].includes(text);
}
