import { z } from 'zod';
import { type FieldSet, fromFieldsV1, toFieldsV1 } from './field-set.ts';

/** Who set fields, and how: each of these has an entry of its own. */
export interface Manager {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource?: string;
}

/** A manager and its fields. */
export interface Ownership extends Manager {
  readonly fields: FieldSet;
  /** RFC 3339, when the manager last changed anything; not when others took fields over. */
  readonly time?: string;
}

const entries = z.array(
  z.looseObject({
    manager: z.string().default(''),
    operation: z.enum(['Apply', 'Update']),
    apiVersion: z.string().default(''),
    time: z.string().optional(),
    subresource: z.string().optional(),
    fieldsV1: z.unknown(),
  }),
);

/** Reads `metadata.managedFields`; what is none owns nothing. */
export function readManagedFields(managedFields: unknown): readonly Ownership[] {
  const parsed = entries.safeParse(managedFields ?? []);
  if (!parsed.success) return [];
  return parsed.data.map(({ manager, operation, apiVersion, time, subresource, fieldsV1 }) => ({
    manager,
    operation,
    apiVersion,
    ...(subresource ? { subresource } : {}),
    ...(time === undefined ? {} : { time }),
    fields: fromFieldsV1(fieldsV1),
  }));
}

/** Writes `metadata.managedFields`: those who apply first, then by time, which is now of who has none. A set that is empty is left out. */
export function writeManagedFields(ownerships: readonly Ownership[], now: string): readonly unknown[] {
  const stamped = ownerships
    .filter(({ fields }) => fields.size > 0)
    .map((ownership) => ({ ...ownership, time: ownership.time ?? now }));
  const rank = ({ operation, time, manager }: Ownership) => `${operation} ${time} ${manager}`;
  return stamped
    .sort((left, right) => (rank(left) < rank(right) ? -1 : 1))
    .map(({ manager, operation, apiVersion, time, subresource, fields }) => ({
      manager,
      operation,
      apiVersion,
      time,
      fieldsType: 'FieldsV1',
      fieldsV1: toFieldsV1(fields),
      ...(subresource === undefined ? {} : { subresource }),
    }));
}

/** Whether two entries are of one manager: who applies may change the version meanwhile. */
export function isSameManager(left: Manager, right: Manager): boolean {
  return (
    left.manager === right.manager &&
    left.operation === right.operation &&
    left.subresource === right.subresource &&
    (left.operation === 'Apply' || left.apiVersion === right.apiVersion)
  );
}
