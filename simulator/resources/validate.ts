import { isDeepStrictEqual } from 'node:util';
import { canonicalQuantity, QUANTITY_RULE } from './quantity.ts';
import { isRecord, type Schema, schemaOfField } from './schema.ts';

/** One reason why an object is invalid, as in the API. */
export interface FieldError {
  /** As `spec.jobs[0].schedule`. */
  readonly field: string;
  readonly reason:
    | 'FieldValueRequired'
    | 'FieldValueInvalid'
    | 'FieldValueTypeInvalid'
    | 'FieldValueNotSupported'
    | 'FieldValueTooLong'
    | 'FieldValueTooMany'
    | 'FieldValueForbidden'
    | 'FieldValueDuplicate';
  /** Without the field's name: `Required value`. */
  readonly message: string;
}

/** Validates a value; errors are in the order of the fields. */
export function validate(value: unknown, schema: Schema, path = ''): readonly FieldError[] {
  const errors: FieldError[] = [];
  check(value, schema, path, errors);
  return errors;
}

/** An error for an invalid value. */
export function invalidValue(field: string, value: unknown, why: string): FieldError {
  return { field, reason: 'FieldValueInvalid', message: `Invalid value: ${quoted(value)}: ${why}` };
}

/** An error for a missing field. */
export function requiredValue(field: string, why = ''): FieldError {
  return {
    field,
    reason: 'FieldValueRequired',
    message: why === '' ? 'Required value' : `Required value: ${why}`,
  };
}

/** An error for a value that is not in the list. */
export function unsupportedValue(field: string, value: unknown, supported: readonly unknown[]): FieldError {
  const list = supported.map((one) => JSON.stringify(one)).join(', ');
  return {
    field,
    reason: 'FieldValueNotSupported',
    message: `Unsupported value: ${quoted(value)}: supported values: ${list}`,
  };
}

function check(value: unknown, schema: Schema, path: string, errors: FieldError[]): void {
  if (value === null && schema.nullable) return;
  if (schema.format === 'quantity') {
    if (canonicalQuantity(value) === undefined)
      errors.push({ field: path, reason: 'FieldValueInvalid', message: QUANTITY_RULE });
    return;
  }
  if (!isOfType(value, schema)) {
    errors.push(typeError(value, schema, path));
    return;
  }
  if (schema.enum && !schema.enum.some((one) => isDeepStrictEqual(one, value)))
    errors.push(unsupportedValue(path, value, schema.enum));
  if (typeof value === 'number') checkNumber(value, schema, path, errors);
  else if (typeof value === 'string') checkText(value, schema, path, errors);
  else if (Array.isArray(value)) checkList(value, schema, path, errors);
  else if (isRecord(value)) checkFields(value, schema, path, errors);
  if (schema.anyOf && !schema.anyOf.some((one) => validate(value, one, path).length === 0))
    errors.push(
      invalidValue(path, value, `${JSON.stringify(path)} must validate at least one schema (anyOf)`),
    );
}

function isOfType(value: unknown, schema: Schema): boolean {
  if (schema['x-kubernetes-int-or-string']) return Number.isInteger(value) || typeof value === 'string';
  switch (schema.type) {
    case 'object':
      return isRecord(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case undefined:
      return value !== null || schema.nullable !== false;
    default:
      return schema.type === typeof value;
  }
}

function typeError(value: unknown, schema: Schema, path: string): FieldError {
  const type = schema['x-kubernetes-int-or-string'] ? 'integer,string' : schema.type;
  const found = JSON.stringify(nameOfType(value));
  return {
    field: path === '' ? '<nil>' : path,
    reason: 'FieldValueTypeInvalid',
    message: `Invalid value: ${found}: ${path} in body must be of type ${type}: ${found}`,
  };
}

function nameOfType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
}

function checkNumber(value: number, schema: Schema, path: string, errors: FieldError[]): void {
  const { minimum, maximum } = schema;
  const refuse = (rule: string) =>
    errors.push(invalidValue(path, value, `${path} in body should be ${rule}`));
  if (minimum !== undefined && value < minimum) refuse(`greater than or equal to ${minimum}`);
  if (maximum !== undefined && value > maximum) refuse(`less than or equal to ${maximum}`);
}

function checkText(value: string, schema: Schema, path: string, errors: FieldError[]): void {
  const { minLength, maxLength, pattern } = schema;
  const length = minLength === undefined && maxLength === undefined ? 0 : [...value].length;
  if (minLength !== undefined && length < minLength)
    errors.push(invalidValue(path, value, `${path} in body should be at least ${minLength} chars long`));
  if (maxLength !== undefined && length > maxLength)
    errors.push({
      field: path,
      reason: 'FieldValueTooLong',
      message: `Too long: may not be more than ${maxLength} bytes`,
    });
  if (pattern !== undefined && !new RegExp(pattern).test(value))
    errors.push(invalidValue(path, value, `${path} in body should match '${pattern}'`));
  if (schema.format === 'date-time' && Number.isNaN(Date.parse(value)))
    errors.push(
      invalidValue(path, value, `${path} in body must be of type date-time: ${JSON.stringify(value)}`),
    );
}

function checkList(value: readonly unknown[], schema: Schema, path: string, errors: FieldError[]): void {
  const { minItems, maxItems, items } = schema;
  if (minItems !== undefined && value.length < minItems)
    errors.push(invalidValue(path, value.length, `${path} in body should have at least ${minItems} items`));
  if (maxItems !== undefined && value.length > maxItems)
    errors.push({
      field: path,
      reason: 'FieldValueTooMany',
      message: `Too many: ${value.length}: must have at most ${maxItems} items`,
    });
  for (const [index, item] of value.entries()) if (items) check(item, items, `${path}[${index}]`, errors);
  checkUnique(value, schema, path, errors);
}

function checkUnique(value: readonly unknown[], schema: Schema, path: string, errors: FieldError[]): void {
  const listType = schema['x-kubernetes-list-type'];
  if (listType !== 'map' && listType !== 'set') return;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const identities = new Set<string>();
  for (const [index, item] of value.entries()) {
    const identity =
      listType === 'map' && isRecord(item) ? Object.fromEntries(keys.map((key) => [key, item[key]])) : item;
    const text = JSON.stringify(identity);
    if (identities.has(text))
      errors.push({
        field: `${path}[${index}]`,
        reason: 'FieldValueDuplicate',
        message: `Duplicate value: ${text}`,
      });
    identities.add(text);
  }
}

function checkFields(
  value: Readonly<Record<string, unknown>>,
  schema: Schema,
  path: string,
  errors: FieldError[],
): void {
  for (const field of schema.required ?? [])
    if (!Object.hasOwn(value, field)) errors.push(requiredValue(joined(path, field)));
  for (const [field, item] of Object.entries(value)) {
    const fieldSchema = schemaOfField(schema, field);
    if (fieldSchema) check(item, fieldSchema, joined(path, field), errors);
  }
}

function joined(path: string, field: string): string {
  return path === '' ? field : `${path}.${field}`;
}

function quoted(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : JSON.stringify(value ?? null);
}
