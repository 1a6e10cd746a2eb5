import type { z } from 'zod';
import type { ComposerWork, Composition } from '#lib/ui/composer.ts';
import { type Field, FormValues, renderField } from '#lib/ui/form.ts';
import { html } from '#lib/ui/html.ts';
import { OBJECT_FIELDS, readObjectFields, TARGET_KIND, warnOfTarget } from '#lib/ui/object-fields.ts';
import { API_VERSION } from '../api/resources.ts';
import { factsOf } from '../triggers/parameters/parameter.ts';
import { problemsOf, unmatchedKeys } from '../triggers/parameters/read-parameters.ts';
import type { Trigger } from '../triggers/trigger.ts';
import type { TriggerTypes } from '../triggers/trigger-registry.ts';
import { reviewed, UnreadableReview } from '../validation/admission-review.ts';
import { reviewScaledObject, type ValidationInputs } from '../validation/admission-webhook.ts';

const MIN: Field = { name: 'min', label: 'Minimum replicas', placeholder: '0', hint: 'By default 0.' };
const MAX: Field = { name: 'max', label: 'Maximum replicas', placeholder: '10', hint: 'By default 100.' };
const POLLING: Field = {
  ...{ name: 'polling', label: 'Polling interval, seconds', placeholder: '30' },
  hint: 'How often the source of the trigger is queried. By default 30.',
};
const COOLDOWN: Field = {
  ...{ name: 'cooldown', label: 'Cooldown period, seconds', placeholder: '300' },
  hint: 'Time without an active trigger until the target is scaled to 0. By default 300.',
};
const AUTHENTICATION: Field = {
  ...{ name: 'authentication', label: 'Credentials', placeholder: 'queue-login' },
  hint: 'Name of the TriggerAuthentication with the credentials of the source. Do not enter credentials in this form.',
};
/** Of the parameters of the trigger: `p.queueName`. */
const PREFIX = 'p.';

/** What a ScaledObject is checked by. */
export interface ComposeSource {
  readonly types: Pick<TriggerTypes, 'get' | 'names'>;
  readonly validation: ValidationInputs & { readonly isSynced: boolean };
}

/**
 * Makes a ScaledObject from a form, checked as the webhook checks it, and its trigger's parameters as reconciling does.
 * Queries no source: that would be a request of the autoscaler on behalf of any user of the page.
 */
export async function composeScaledObject(
  query: URLSearchParams,
  work: ComposerWork,
  { types, validation }: ComposeSource,
): Promise<Composition> {
  const values = new FormValues(query);
  const { metadata, target } = readObjectFields(values);
  const typeField: Field = { name: 'trigger', label: 'Trigger', options: ['prometheus', ...types.names] };
  const type = values.text(typeField);
  const trigger = types.get(type);
  const fields = parameterFields(trigger);
  const parameters = fields.map((field): [string, string] => [
    field.name.slice(PREFIX.length),
    values.text(field),
  ]);
  const given = Object.fromEntries(parameters.filter(([, value]) => value !== ''));
  const authentication = values.text(AUTHENTICATION);
  checkParameters(trigger, given, { values, hasAuthentication: authentication !== '' });
  const [min, max, polling, cooldown] = [MIN, MAX, POLLING, COOLDOWN].map((field) => values.whole(field));
  if (min !== undefined && max !== undefined && min > max)
    values.report(MIN.name, 'must be at most the maximum');
  const { apiVersion, kind, name } = target;
  const manifest = {
    apiVersion: API_VERSION,
    kind: 'ScaledObject',
    metadata,
    spec: {
      scaleTargetRef: { ...(kind !== TARGET_KIND.options?.[0] && { apiVersion, kind }), name },
      ...(polling !== undefined && { pollingInterval: polling }),
      ...(cooldown !== undefined && { cooldownPeriod: cooldown }),
      ...(min !== undefined && { minReplicaCount: min }),
      ...(max !== undefined && { maxReplicaCount: max }),
      triggers: [
        {
          type,
          metadata: given,
          ...(authentication !== '' && { authenticationRef: { name: authentication } }),
        },
      ],
    },
  };
  await warnOfTarget(values, { ...target, namespace: metadata.namespace }, work);
  await work.turn();
  const warnings = values.hasProblems ? [] : await review(manifest, { values, validation });
  const isValid = !values.hasProblems;
  const all = [...OBJECT_FIELDS, MIN, MAX, POLLING, COOLDOWN, typeField, AUTHENTICATION, ...fields];
  return {
    fields: html`${all.map((field) => renderField(field, values))}`,
    problems: values.general,
    warnings,
    manifest: isValid ? manifest : undefined,
    preview: isValid
      ? html`<p class="hint">The source is not queried for this page. Once the object is applied, its page shows what the trigger returns.</p>`
      : undefined,
  };
}

/** A field for each parameter that has an effect and that the metadata may have, required ones first. */
function parameterFields({ parameters }: Trigger): readonly Field[] {
  const entries = Object.entries(parameters.shape) as [string, z.ZodType][];
  const fields = entries
    .filter(([, type]) => factsOf(type).from.includes('metadata') && !factsOf(type).isUnsupported)
    .map(([name, type]): Field => {
      const { description, default: fallback, from } = factsOf(type);
      const isRequired = from.length === 1 && !type.safeParse(undefined).success;
      return {
        ...{ name: `${PREFIX}${name}`, label: name, hint: description, isRequired },
        ...(fallback !== undefined && { placeholder: fallback }),
      };
    });
  return fields.toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired));
}

interface CheckOptions {
  readonly values: FormValues;
  readonly hasAuthentication: boolean;
}

/** Reads the parameters as reconciling does, except for those that an authentication may have. */
function checkParameters(
  { parameters, takesAnyKey }: Trigger,
  given: Readonly<Record<string, string>>,
  { values, hasAuthentication }: CheckOptions,
): void {
  const entries = Object.entries(parameters.shape) as [string, z.ZodType][];
  const elsewhere = entries.filter(
    ([name, type]) =>
      !Object.hasOwn(given, name) && hasAuthentication && factsOf(type).from.includes('authentication'),
  );
  const mask = Object.fromEntries(elsewhere.map(([name]) => [name, true]));
  const schema: z.ZodObject = parameters.omit(mask as never);
  for (const { name, problem } of problemsOf(schema, given)) values.report(`${PREFIX}${name}`, problem);
  const unmatched = takesAnyKey ? [] : unmatchedKeys(parameters, given);
  for (const name of unmatched) values.report(`${PREFIX}${name}`, 'is not a parameter of this trigger');
}

/** Checks the object as the webhook does. @returns its warnings */
async function review(
  manifest: object,
  { values, validation }: { readonly values: FormValues; readonly validation: ComposeSource['validation'] },
): Promise<readonly string[]> {
  try {
    const object = reviewed.scaledObject(manifest);
    const now = { before: undefined, isDryRun: false };
    const { isAllowed, message = '', warnings = [] } = await reviewScaledObject(object, now, validation);
    if (!isAllowed) values.reportGeneral(message);
    if (validation.isSynced) return warnings;
    return [
      ...warnings,
      'It is not checked yet whether another object scales this target: the objects are still being listed. Try again in a few seconds.',
    ];
  } catch (error) {
    if (!(error instanceof UnreadableReview)) throw error;
    values.reportGeneral(error.message);
    return [];
  }
}
