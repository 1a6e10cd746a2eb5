import type { KubernetesObject } from '../../objects/kubernetes-object.ts';
import { QUANTITY_RULE } from '../../resources/quantity.ts';
import { isRecord, prune, withDefaults } from '../../resources/schema.ts';
import { type FieldError, validate } from '../../resources/validate.ts';
import { badRequest, invalidObject } from '../status.ts';
import type { ObjectWrite } from './object-write.ts';

/**
 * Prunes unknown fields, sets defaults and validates an object.
 *
 * @throws ApiError 400 for unknown fields in strict validation, 422 for invalid values
 */
export function conformObject(
  object: KubernetesObject,
  previous: KubernetesObject | undefined,
  { type, options, request }: ObjectWrite,
): KubernetesObject {
  const { value, unknownFields } = prune(type.isCustom ? object : withoutNulls(object), type.schema);
  const unknown = unknownFields.map((field) => `unknown field ${JSON.stringify(field)}`);
  if (unknown.length > 0 && options.fieldValidation === 'Strict')
    throw badRequest(
      `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}: strict decoding error: ${unknown.join(', ')}`,
    );
  if (options.fieldValidation === 'Warn')
    for (const warning of unknown)
      request.response.appendHeader('Warning', `299 - ${JSON.stringify(warning)}`);
  const completed = withDefaults(value, type.schema) as KubernetesObject;
  refuseInvalid(validate(completed, type.schema), { type, name: object.metadata.name });
  const whole = type.applyDefaults?.(completed) ?? completed;
  refuseInvalid(type.validate?.(whole, previous) ?? [], { type, name: object.metadata.name });
  return whole;
}

/**
 * Refuses nulls where the schema allows none, where others would be left out.
 *
 * @throws ApiError 422
 */
export function refuseNulls(object: KubernetesObject, { type }: ObjectWrite): void {
  const nulls = validate(object, type.schema).filter(({ message }) => message.endsWith('"null"'));
  refuseInvalid(nulls, { type, name: object.metadata.name });
}

function refuseInvalid(
  errors: readonly FieldError[],
  { type, name }: { readonly type: ObjectWrite['type']; readonly name: string },
): void {
  if (errors.length === 0) return;
  // Built-in types are decoded before they are validated: a wrong type is a bad request.
  const mistyped = type.isCustom
    ? undefined
    : errors.find(({ reason }) => reason === 'FieldValueTypeInvalid');
  if (mistyped)
    throw badRequest(
      `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}: json: cannot unmarshal ${mistyped.message.split('"')[1]} into Go struct field ${type.kind}.${mistyped.field}`,
    );
  const isUnparsed = !type.isCustom && errors.some(({ message }) => message === QUANTITY_RULE);
  if (isUnparsed)
    throw badRequest(
      `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}: ${QUANTITY_RULE}`,
    );
  throw invalidObject(type, name, errors);
}

/** Removes nulls, which built-in types take for absent; a value without nulls stays the same object. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(withoutNulls);
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isRecord(value)) return value;
  const fields = Object.entries(value)
    .filter(([, field]) => field !== null)
    .map(([key, field]): [string, unknown] => [key, withoutNulls(field)]);
  const isSame =
    fields.length === Object.keys(value).length && fields.every(([key, field]) => field === value[key]);
  return isSame ? value : Object.fromEntries(fields);
}
