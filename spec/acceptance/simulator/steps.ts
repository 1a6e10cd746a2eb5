import { WIDGETS } from '#spec/support/widget-definition.ts';
import { APPLYING } from './applying-steps.ts';
import { CHANGING } from './changing-steps.ts';
import { CREATING } from './creating-steps.ts';
import { BUILT_IN, DELETING, WATCHING } from './other-steps.ts';
import { READING } from './reading-steps.ts';
import type { RequestStep } from './request-step.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** The kind of other specs, with an atomic list added to its status. */
function widgetsWithHistory(): unknown {
  const definition = JSON.parse(JSON.stringify(WIDGETS));
  definition.spec.versions[0].schema.openAPIV3Schema.properties.status.properties.history = {
    type: 'array',
    items: { type: 'object', properties: { at: { type: 'integer' }, note: { type: 'string' } } },
  };
  return definition;
}

/** Creates the definition of the kind that most steps use. The kind is served after a short delay. */
export const DEFINE: RequestStep = {
  name: 'define a kind',
  method: 'POST',
  path: DEFINITIONS,
  body: widgetsWithHistory(),
};

/** Steps for both API servers, in order. */
export const STEPS: readonly RequestStep[] = [
  ...CREATING,
  ...READING,
  ...CHANGING,
  ...APPLYING,
  ...BUILT_IN,
  ...WATCHING,
  ...DELETING,
];
