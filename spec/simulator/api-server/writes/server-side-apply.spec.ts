import { expect } from 'chai';
import fc from 'fast-check';
import {
  fromFieldsV1,
  type ManagedFieldsEntry,
  toFieldsV1,
} from '#simulator/api-server/writes/managed-fields.ts';
import { serverSideApply } from '#simulator/api-server/writes/server-side-apply.ts';
import type { Schema } from '#simulator/resources/schema.ts';

const SCHEMA: Schema = {
  type: 'object',
  properties: {
    items: {
      type: 'array',
      items: { type: 'object' },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    },
  },
};

const managerOf = (manager: string) => ({ manager, operation: 'Apply', apiVersion: 'v1' }) as const;

/** Applies configurations in order, each as its manager, with force. */
function applied(...configurations: readonly (readonly [string, unknown])[]) {
  let object: unknown = {};
  let ownerships: readonly ManagedFieldsEntry[] = [];
  for (const [name, configuration] of configurations) {
    const next = serverSideApply(object, configuration, {
      manager: managerOf(name),
      ownerships,
      schema: SCHEMA,
      force: true,
    });
    if ('conflicts' in next) throw new Error('nothing is in the way of force');
    ({ object, ownerships } = next);
  }
  return { object, ownerships };
}

describe('serverSideApply', () => {
  const configuration = fc.dictionary(
    fc.constantFrom('a', 'b', 'c'),
    fc.oneof(fc.integer(), fc.dictionary(fc.constantFrom('x', 'y'), fc.integer(), { minKeys: 1 })),
  );

  it("results in one manager's last configuration, after any earlier ones", () => {
    fc.assert(
      fc.property(configuration, configuration, (first, second) => {
        expect(applied(['one', first], ['one', second]).object).to.deep.equal(structuredClone(second));
      }),
    );
  });

  it('removes all fields of managers that apply nothing', () => {
    fc.assert(
      fc.property(configuration, configuration, (first, second) => {
        expect(applied(['one', first], ['two', second], ['one', {}], ['two', {}]).object).to.deep.equal({});
      }),
    );
  });

  it('retains the key of an item in which another manager has a field', () => {
    const { object } = applied(
      ['one', { items: [{ name: 'a', colour: 'red' }] }],
      ['two', { items: [{ name: 'a', size: 1 }] }],
      ['one', {}],
    );
    expect(object).to.deep.equal({ items: [{ name: 'a', size: 1 }] });
  });

  it('shares a field between managers that set the same value', () => {
    const { object, ownerships } = applied(['one', { a: 1 }]);
    const options = { manager: managerOf('two'), ownerships, schema: SCHEMA, force: false };
    expect(serverSideApply(object, { a: 1 }, options))
      .to.have.property('object')
      .that.deep.equals({ a: 1 });
    expect(serverSideApply(object, { a: 2 }, options)).to.have.nested.property('conflicts[0].field', '.a');
  });
});

describe('toFieldsV1', () => {
  it('is undone by fromFieldsV1', () => {
    const element = fc.constantFrom('f:a', 'f:b', 'k:{"name":"x"}', 'v:"y"');
    const path = fc.array(element, { minLength: 1, maxLength: 3 }).map((elements) => elements.join('\n'));
    fc.assert(
      fc.property(fc.array(path), (paths) => {
        const set = new Set(paths);
        expect(fromFieldsV1(toFieldsV1(set))).to.deep.equal(set);
      }),
    );
  });
});
