import { expect } from 'chai';
import { apiGroup, apiGroupDiscoveryList, apiResourceList } from '#lib/apiserver/discovery/discovery.ts';
import { type Document, documentJson, encodeDocument } from '#lib/apiserver/encoding/document.ts';
import { goJson } from '#lib/apiserver/encoding/json.ts';
import {
  invalidOptions,
  notFound,
  statusDocument,
  tooManyRequests,
} from '#lib/apiserver/http/status-error.ts';
import { thingsResource } from '#spec/support/served-things.ts';

const RESOURCES = [thingsResource(() => [])];
const GROUP = { name: 'lab.example', versions: [{ version: 'v1', resources: () => RESOURCES }] };

describe('encodeDocument', () => {
  const documents: Readonly<Record<string, Document>> = {
    'a failure without details': statusDocument(tooManyRequests(1)),
    'a failure that quotes what was sent': statusDocument(
      notFound({ group: 'lab.example', resource: 'things' }, '<a> & "b"\u2028'),
    ),
    'a failure of several causes': statusDocument(
      invalidOptions([
        { reason: 'FieldValueForbidden', message: 'Forbidden: a', field: 'limit' },
        { reason: 'FieldValueNotSupported', message: 'b', field: 'continue' },
      ]),
    ),
    'a group': apiGroup(GROUP),
    'a group without resources': apiResourceList('lab.example/v1', []),
    'resources of a group': apiResourceList('lab.example/v1', RESOURCES),
    'all groups with what is in them': apiGroupDiscoveryList([GROUP]),
  };
  for (const [what, document] of Object.entries(documents)) {
    it(`writes ${what} on one line as the JSON of its fields`, () => {
      const text = encodeDocument(document, { format: 'json', isPretty: false }).toString();
      expect(text).to.equal(`${goJson(documentJson(document))}\n`);
    });
  }
});
