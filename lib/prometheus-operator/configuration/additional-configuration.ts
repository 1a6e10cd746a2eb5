import { readYaml, YamlError } from '#lib/kubernetes/read-yaml.ts';
import type { ObjectKey } from '../objects/common-fields.ts';
import { Refusal, refuse, within } from '../objects/refusal.ts';
import type { References } from '../selection/references.ts';
import type { Block } from './block.ts';
import type { ConfigurationContext } from './configuration-context.ts';

type AdditionalField =
  | 'additionalScrapeConfigs'
  | 'additionalAlertRelabelConfigs'
  | 'additionalAlertManagerConfigs';

/**
 * Parts of the configuration that the user writes, in a Secret.
 *
 * @returns empty for an optional Secret that does not exist
 * @throws {Refusal} if it does not exist otherwise, or is no list in YAML
 */
export function readAdditional(
  field: AdditionalField,
  { prometheus, references }: ConfigurationContext,
): readonly Block[] {
  const key = prometheus.spec[field];
  if (key === undefined) return [];
  const own = references(prometheus.namespace);
  if (own.isAssumed('Secret', key)) return [];
  return within(field, () => {
    const text = key.optional ? textIfPresent(own, key) : own.secret(key);
    return text === undefined ? [] : parseList(text);
  });
}

function textIfPresent(references: References, key: ObjectKey): string | undefined {
  try {
    return references.secret(key);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

function parseList(text: string): readonly Block[] {
  let list: unknown;
  try {
    list = readYaml(text, { maxAliasCount: 100 }) ?? [];
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return refuse(error.message);
  }
  const isList = Array.isArray(list) && list.every((item) => typeof item === 'object' && item !== null);
  return isList ? (list as readonly Block[]) : refuse('not a list of objects');
}
