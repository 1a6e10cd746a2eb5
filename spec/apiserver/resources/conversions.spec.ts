import { expect } from 'chai';
import { documentJson } from '#lib/apiserver/encoding/document.ts';
import { wholeDocument } from '#lib/apiserver/encoding/list-document.ts';
import { parseQuery } from '#lib/apiserver/http/query-values.ts';
import {
  type IncludedObject,
  parseIncludeObject,
  tableDocument,
} from '#lib/apiserver/resources/conversions.ts';
import { Thing, thingsResource } from '#spec/support/served-things.ts';

describe('tableDocument', () => {
  const table = (include: IncludedObject, items = [new Thing('a', { namespace: 'n', size: 7 })]) =>
    documentJson(
      wholeDocument(
        tableDocument({
          apiVersion: 'meta.k8s.io/v1',
          metadata: { continue: 'next' },
          columns: thingsResource(() => []).columns,
          items,
          itemType: { kind: 'Thing', apiVersion: 'lab.example/v1' },
          include,
        }),
      ),
    );

  it('has columns, and a row of cells for each object', () => {
    const { kind, metadata, columnDefinitions, rows } = table('None');
    expect({ kind, metadata, rows }).to.deep.equal({
      kind: 'Table',
      metadata: { continue: 'next' },
      rows: [{ cells: ['a', 7], object: null }],
    });
    expect(columnDefinitions).to.deep.equal([
      { name: 'Name', type: 'string', format: 'name', description: '', priority: 0 },
      { name: 'Size', type: 'integer', format: '', description: '', priority: 1 },
    ]);
  });

  it('has neither columns nor rows where there are no objects', () => {
    expect(table('', [])).to.include({ columnDefinitions: null, rows: null });
  });

  it('includes metadata by default, or the whole object', () => {
    const metadata = { name: 'a', namespace: 'n', creationTimestamp: '2026-01-01T00:00:00Z' };
    const objectOf = (include: IncludedObject) => (table(include).rows as { object: unknown }[])[0]?.object;
    const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
    expect(objectOf('')).to.deep.equal(partial);
    expect(objectOf('Metadata')).to.deep.equal(partial);
    expect(objectOf('Object')).to.deep.equal({
      kind: 'Thing',
      apiVersion: 'lab.example/v1',
      metadata,
      size: 7,
    });
  });
});

describe('parseIncludeObject', () => {
  it('parses the values of Kubernetes', () => {
    for (const word of ['None', 'Metadata', 'Object'] as const) {
      expect(parseIncludeObject(parseQuery(`includeObject=${word}`))).to.equal(word);
    }
    expect(parseIncludeObject(parseQuery(''))).to.equal('');
  });

  it('refuses anything else', () => {
    expect(() => parseIncludeObject(parseQuery('includeObject=All')))
      .to.throw(
        'Unable to convert to Table as requested: includeObject: Invalid value: "All": ' +
          "must be 'Metadata', 'Object', 'None', or empty",
      )
      .that.includes({ code: 400 });
  });
});
