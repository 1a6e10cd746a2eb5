import { unsupportedValue } from '../../schema/validate.ts';
import { type ApiRequest, isTrue } from '../api-request.ts';
import { badRequest, invalidObject } from '../status.ts';

/** `CreateOptions`, `UpdateOptions` and `PatchOptions` of meta.k8s.io, read and checked. */
export interface WriteOptions {
  /** All is done but storing. */
  readonly isDryRun: boolean;
  /** As whom the caller manages fields. */
  readonly fieldManager: string;
  readonly isFieldManagerGiven: boolean;
  /** Takes over fields that others manage. */
  readonly force: boolean;
  /** What becomes of fields that nobody knows. */
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
}

/** @throws ApiError 400 or 422 for options that there are not */
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
