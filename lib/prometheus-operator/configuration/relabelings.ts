import { RE2JS, RE2JSException } from 're2js';
import type { Relabeling } from '../objects/common-fields.ts';
import { mapAll, refuse, within } from '../objects/refusal.ts';
import type { Block } from './block.ts';
import type { PrometheusVersion } from './prometheus-version.ts';
import { supports } from './version-gates.ts';

/** Relabelings as they are written, in the order of their effect. */
export type Relabelings = readonly Block[];

/**
 * Writes relabelings of an object.
 *
 * @throws {Refusal} for those that Prometheus of this version would refuse
 */
export function writeRelabelings(
  relabelings: readonly Relabeling[] | undefined,
  version: PrometheusVersion,
): Relabelings {
  return mapAll(relabelings ?? [], (relabeling, index) =>
    within(`[${index}]`, () => {
      checkRelabeling(relabeling, version);
      return writeRelabeling(relabeling);
    }),
  );
}

function writeRelabeling(relabeling: Relabeling): Block {
  const { sourceLabels = [], separator, targetLabel, regex, modulus, replacement, action } = relabeling;
  return {
    ...(sourceLabels.length > 0 && { source_labels: sourceLabels }),
    ...(separator !== undefined && { separator }),
    ...(targetLabel && { target_label: targetLabel }),
    ...(regex && { regex }),
    ...(modulus && { modulus }),
    ...(replacement !== undefined && { replacement }),
    action: action.toLowerCase(),
  };
}

const BY_CASE: ReadonlySet<string> = new Set(['lowercase', 'uppercase']);
const BY_EQUALITY: ReadonlySet<string> = new Set(['keepequal', 'dropequal']);
const OF_NAMES: ReadonlySet<string> = new Set(['labeldrop', 'labelkeep']);
/** Actions that set a label. */
const WITH_TARGET: ReadonlySet<string> = new Set(['replace', 'hashmod', ...BY_CASE, ...BY_EQUALITY]);

/** As Prometheus checks it when it loads its configuration. */
function checkRelabeling(relabeling: Relabeling, version: PrometheusVersion): void {
  const { sourceLabels = [], separator, targetLabel = '', regex, modulus, replacement } = relabeling;
  const action = relabeling.action.toLowerCase();
  if (BY_CASE.has(action) && !supports('relabeling by case', version))
    refuse(`${relabeling.action} relabel action is only supported from Prometheus version 2.36.0`);
  if (BY_EQUALITY.has(action) && !supports('relabeling by equality', version))
    refuse(`${relabeling.action} relabel action is only supported from Prometheus version 2.41.0`);
  for (const label of sourceLabels)
    if (!isLabelName(label, version)) refuse(`${JSON.stringify(label)} is invalid 'source_labels'`);
  checkRegex(regex);
  if (action === 'hashmod' && !modulus) refuse('relabel configuration for hashmod requires non-zero modulus');
  if (WITH_TARGET.has(action)) {
    if (targetLabel === '') refuse(`relabel configuration for ${action} action needs targetLabel value`);
    const isValid = action === 'replace' ? isLabelTemplate : isLabelName;
    if (!isValid(targetLabel, version))
      refuse(`${JSON.stringify(targetLabel)} is invalid 'target_label' for ${action} action`);
  }
  if ((BY_CASE.has(action) || BY_EQUALITY.has(action)) && replacement && replacement !== '$1')
    refuse(`'replacement' can not be set for ${action} action`);
  if (action === 'labelmap' && replacement !== undefined && !isLabelTemplate(replacement, version))
    refuse(`${JSON.stringify(replacement)} is invalid 'replacement' for labelmap action`);
  if (BY_EQUALITY.has(action) && ((regex && regex !== '(.*)') || modulus || (separator && separator !== ';')))
    refuse(`${action} action requires only 'source_labels' and \`target_label\`, and no other fields`);
  if (
    OF_NAMES.has(action) &&
    (sourceLabels.length > 0 || targetLabel !== '' || modulus || replacement || separator)
  )
    refuse(`${action} action requires only 'regex', and no other fields`);
}

function checkRegex(regex: string | undefined): void {
  if (!regex) return;
  try {
    RE2JS.compile(`^(?s:${regex})$`);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    refuse(`invalid regex ${regex} for relabel configuration: ${error.message}`);
  }
}

const LEGACY_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
/** A name with references to groups of the regular expression, such as `${1}_total`. */
const LEGACY_TEMPLATE = /^(?:[a-zA-Z_]|\$\{\w+\}|\$\w)(?:\w|\$\{\w+\}|\$\w)*$/;

/** Whether a text may be the name of a label. */
export function isLabelName(name: string, version: PrometheusVersion): boolean {
  return supports('UTF-8 names', version) ? name !== '' && name.isWellFormed() : LEGACY_NAME.test(name);
}

function isLabelTemplate(template: string, version: PrometheusVersion): boolean {
  return supports('UTF-8 names', version) ? isLabelName(template, version) : LEGACY_TEMPLATE.test(template);
}

/** Keeps or drops targets by labels that Prometheus' discovery gives them. */
export function filterRelabeling(
  action: 'keep' | 'drop',
  sourceLabels: readonly string[],
  regex: string | number,
): Block {
  return { action, source_labels: sourceLabels, regex };
}

/**
 * Keeps targets by a text of an object that Prometheus reads as a regular expression, such as the name of a port.
 *
 * @throws {Refusal} for an invalid one
 */
export function keepMatching(label: string, text: string | number): Block {
  if (typeof text === 'string') checkRegex(text);
  return filterRelabeling('keep', [label], text);
}

/** What the first group of a regular expression matched, as Prometheus' replacements refer to it. */
export const FIRST_GROUP = `\${1}`;

/** Copies a label. */
export function copyLabel(from: string, to: string): Block {
  return { source_labels: [from], target_label: to };
}

/** Sets a label. */
export function setLabel(name: string, value: string): Block {
  return { target_label: name, replacement: value };
}

/** The name of a label in names of Prometheus' discovery. */
export function sanitizedLabel(name: string): string {
  return name.replace(/[^a-zA-Z0-9_]/g, '_');
}

/**
 * Distributes targets among shards by the hash of a label; `$(SHARD)` is replaced in the pod. A target with the label
 * `__tmp_disable_sharding` is scraped by each of them.
 */
export function shardingRelabelings(label: string, shards: number): Relabelings {
  return [
    {
      source_labels: [label, '__tmp_hash'],
      target_label: '__tmp_hash',
      regex: '(.+);',
      replacement: '$1',
      action: 'replace',
    },
    { source_labels: ['__tmp_hash'], target_label: '__tmp_hash', modulus: shards, action: 'hashmod' },
    {
      source_labels: ['__tmp_hash', '__tmp_disable_sharding'],
      regex: '$(SHARD);|.+;.+',
      action: 'keep',
    },
  ];
}

/** Saves the job of a target before relabelings of the object change it. */
export const JOB_BEFORE_RELABELING: Block = copyLabel('job', '__tmp_prometheus_job_name');
