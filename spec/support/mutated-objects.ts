import { expect } from 'chai';
import fc from 'fast-check';
import type * as z from 'zod';
import { MalformedResponse } from '#lib/kubernetes/client/api-error.ts';
import { SelectorError } from '#lib/kubernetes/selectors/label-selector.ts';

/** Values that decoders often fail on when they expect another type. */
const TRIPWIRES: readonly unknown[] = [
  ...[null, true, 0, -1, 1.5, 1e300, 2 ** 31, '', 'x', '7', 'constructor', [], {}, [null], ['x'], [{}]],
  ...[{ a: 'b' }, { a: 1 }, { name: 'x' }, { toString: 1 }, [[]], { length: 1 }],
  { constructor: 'x' },
];

interface Change {
  /** Index of the value to change among all values of the object, at any depth. */
  readonly at: number;
  readonly kind: 'replace' | 'remove' | 'add';
  readonly value: unknown;
}

const change: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(),
  kind: fc.constantFrom('replace', 'remove', 'add'),
  value: fc.constantFrom(...TRIPWIRES),
});

/** One of some JSON values with up to four changes at any depth. */
export function mutatedObjects(seeds: readonly unknown[]): fc.Arbitrary<unknown> {
  return fc
    .tuple(fc.constantFrom(...seeds), fc.array(change, { maxLength: 4 }))
    .map(([seed, changes]) => changes.reduce(changed, structuredClone(seed)));
}

function changed(root: unknown, { at, kind, value }: Change): unknown {
  const places: [Record<string, unknown>, string][] = [];
  const visit = (container: unknown) => {
    if (typeof container !== 'object' || container === null) return;
    for (const key of Object.keys(container)) {
      places.push([container as Record<string, unknown>, key]);
      visit((container as Record<string, unknown>)[key]);
    }
  };
  visit(root);
  const [container, key] = places[at % Math.max(1, places.length)] ?? [];
  if (container === undefined || key === undefined) return structuredClone(value);
  const copy = structuredClone(value);
  if (kind === 'replace') container[key] = copy;
  else if (kind === 'add' && Array.isArray(container)) container.push(copy);
  else if (kind === 'add') container.added = copy;
  else if (Array.isArray(container)) container.splice(Number(key), 1);
  else delete container[key];
  return root;
}

/**
 * Compares a handwritten decoder with a schema of the same input: changed objects that the schema accepts are decoded,
 * and all others are rejected with a plain Error, not one of the language's classes.
 *
 * @param seeds real objects with every field that is read; the schema accepts all of them
 */
export function expectSameAsSchema(
  decode: (value: unknown) => unknown,
  schema: z.ZodType,
  seeds: readonly unknown[],
): void {
  for (const seed of seeds) {
    expect(schema.safeParse(seed).error?.issues ?? [], 'the schema takes its seeds').to.deep.equal([]);
    decode(seed);
  }
  fc.assert(
    fc.property(mutatedObjects(seeds), (value) => {
      const refusal = refusalOf(decode, value);
      const isRefused = refusal !== undefined;
      expect(isRefused, `${refusal ?? 'decoded'}: ${JSON.stringify(value)}`).to.equal(
        !schema.safeParse(value).success,
      );
    }),
    { numRuns: 3_000, seed: 1 },
  );
}

/**
 * Passes changed objects to a reader, which may reject each with a plain Error; results are passed to `use`, which must
 * not throw.
 *
 * @param seeds real objects with every field that is read; none of them is rejected
 */
export async function expectReadOrRefused<T>(
  {
    read,
    use = () => {},
  }: { readonly read: (value: unknown) => T; readonly use?: (read: Awaited<T>) => unknown },
  seeds: readonly unknown[],
): Promise<void> {
  for (const seed of seeds) use(await read(seed));
  await fc.assert(
    fc.asyncProperty(mutatedObjects(seeds), async (value) => {
      let result: Awaited<T>;
      try {
        result = await read(value);
      } catch (error) {
        if (isRefusal(error)) return;
        throw error;
      }
      use(result);
    }),
    { numRuns: 1_000, seed: 1 },
  );
}

/** Whether an error is plain, not one of the language's classes. */
function isRefusal(error: unknown): error is Error {
  if (error instanceof MalformedResponse || error instanceof SelectorError) return true;
  return error instanceof Error && error.constructor === Error;
}

function refusalOf(decode: (value: unknown) => unknown, value: unknown): string | undefined {
  try {
    decode(value);
    return undefined;
  } catch (error) {
    if (isRefusal(error)) return error.message;
    throw error;
  }
}
