import { expect } from 'chai';
import type { KubernetesObject } from '#simulator/objects/kubernetes-object.ts';
import { checkCustomResourceDefinition } from '#simulator/resources/kinds/custom-resource-definitions.ts';
import { WIDGETS } from '#spec/support/widget-definition.ts';

const spec = WIDGETS.spec as { readonly versions: readonly object[] };

function withSchema(openAPIV3Schema: object | undefined) {
  const schema = openAPIV3Schema === undefined ? {} : { openAPIV3Schema };
  return { spec: { ...spec, versions: [{ ...spec.versions[0], schema }] } };
}

const withProperty = (property: object) => withSchema({ type: 'object', properties: { spec: property } });

describe('checkCustomResourceDefinition', () => {
  const errorsWith = (change: object) =>
    checkCustomResourceDefinition({ ...WIDGETS, ...change } as KubernetesObject).map(
      ({ field, message }) => `${field}: ${message}`,
    );

  it('accepts a definition whose schema is structural', () => expect(errorsWith({})).to.deep.equal([]));

  for (const [what, change, error] of [
    [
      'another name than its own',
      { metadata: { name: 'gadgets.example.com' } },
      'metadata.name: Invalid value: "gadgets.example.com": must be spec.names.plural+"."+spec.group',
    ],
    [
      'no version to store',
      { spec: { ...spec, versions: [] } },
      'spec.versions: Invalid value: []: must have exactly one version marked as storage version',
    ],
    [
      'a property without a type',
      withProperty({ properties: {} }),
      'spec.versions[0].schema.openAPIV3Schema.properties[spec].type: Required value: must not be empty for specified object fields',
    ],
    [
      'a pattern that is not a regular expression',
      withProperty({ type: 'string', pattern: '(' }),
      'spec.versions[0].schema.openAPIV3Schema.properties[spec].pattern: Invalid value: "(": must be a valid regular expression',
    ],
    [
      'no schema',
      withSchema(undefined),
      'spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required',
    ],
  ] as const) {
    it(`refuses a definition with ${what}`, () => expect(errorsWith(change)).to.deep.equal([error]));
  }
});
