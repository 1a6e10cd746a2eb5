import { WIDGETS } from '#spec/support/widget-definition.ts';
import { APPLYING } from './applying-steps.ts';
import { CHANGING } from './changing-steps.ts';
import { CREATING } from './creating-steps.ts';
import { BUILT_IN, DELETING, WATCHING } from './other-steps.ts';
import { READING } from './reading-steps.ts';
import type { RequestStep } from './request-step.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** The kind that other specs have, too, with a list in its status that is replaced as a whole. */
function widgetsWithHistory(): unknown {
  const definition = JSON.parse(JSON.stringify(WIDGETS));
  definition.spec.versions[0].schema.openAPIV3Schema.properties.status.properties.history = {
    type: 'array',
    items: { type: 'object', properties: { at: { type: 'integer' }, note: { type: 'string' } } },
  };
  return definition;
}

/** Makes the kind that most other steps are about. It takes a moment until it is served. */
export const DEFINE: RequestStep = {
  name: 'define a kind',
  method: 'POST',
  path: DEFINITIONS,
  body: widgetsWithHistory(),
};

/** What both API servers are asked, in this order. */
export const STEPS: readonly RequestStep[] = [
  ...CREATING,
  ...READING,
  ...CHANGING,
  ...APPLYING,
  ...BUILT_IN,
  ...WATCHING,
  ...DELETING,
];
