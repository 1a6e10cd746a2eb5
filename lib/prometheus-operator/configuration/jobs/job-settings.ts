import type {
  LabelSelectorFields,
  Relabeling,
  ScrapeSettings,
  TlsConfig,
} from '../../objects/common-fields.ts';
import type { Declared, SelectedKind } from '../../objects/declared-object.ts';
import { within } from '../../objects/refusal.ts';
import { selectorText } from '../../selection/select-objects.ts';
import { type Block, block } from '../block.ts';
import {
  type CheckedScrapeClass,
  type ConfigurationContext,
  enforcedLabel,
} from '../configuration-context.ts';
import {
  type ClientAuthentication,
  hasSource,
  writeAuthentication,
  writeAuthorization,
  writeTls,
} from '../credentials.ts';
import { jobLimits } from '../limits.ts';
import { quantityAsNumber } from '../quantity-as-number.ts';
import {
  filterRelabeling,
  type Relabelings,
  sanitizedLabel,
  setLabel,
  writeRelabelings,
} from '../relabelings.ts';

/** Settings of a job that all kinds of objects have: limits, protocols and histograms. */
export function writeScrapeSettings(
  settings: ScrapeSettings,
  scrapeClass: CheckedScrapeClass | undefined,
  { prometheus, version }: ConfigurationContext,
): Block {
  const { nativeHistogramMinBucketFactor: factor } = settings;
  return {
    ...jobLimits(settings, prometheus.spec, version),
    native_histogram_bucket_limit: settings.nativeHistogramBucketLimit,
    native_histogram_min_bucket_factor:
      factor === undefined
        ? undefined
        : within('nativeHistogramMinBucketFactor', () => quantityAsNumber(factor)),
    always_scrape_classic_histograms: settings.scrapeClassicHistograms,
    convert_classic_histograms_to_nhcb: settings.convertClassicHistogramsToNHCB,
    scrape_protocols: settings.scrapeProtocols,
    fallback_scrape_protocol: settings.fallbackScrapeProtocol ?? scrapeClass?.fallbackScrapeProtocol,
  };
}

/** Whether Prometheus takes the timestamps that targets expose. */
export function honorTimestamps(
  own: boolean | undefined,
  { prometheus }: ConfigurationContext,
): boolean | undefined {
  return prometheus.spec.overrideHonorTimestamps ? false : own;
}

/** Whether labels of targets win over those of the discovery. */
export function honorLabels(
  own: boolean | undefined,
  { prometheus }: ConfigurationContext,
): boolean | undefined {
  return own && prometheus.spec.overrideHonorLabels ? false : own;
}

interface ClientFields extends ClientAuthentication {
  readonly tlsConfig?: TlsConfig | undefined;
}

/** How targets are scraped: the fields of the object, and those of its scrape class that it lacks. */
export function writeClient(
  fields: ClientFields,
  { namespace }: Declared<SelectedKind>,
  scrapeClass: CheckedScrapeClass | undefined,
  context: ConfigurationContext,
): Block {
  const own = context.references(namespace);
  const ofClass = context.references(context.prometheus.namespace);
  const { tlsConfig, ...authentication } = fields;
  const written = writeAuthentication(authentication, own);
  const classAuthorization =
    Object.keys(written).length === 0 && scrapeClass?.authorization
      ? { authorization: writeAuthorization(scrapeClass.authorization, ofClass) }
      : {};
  const classTls = scrapeClass?.tlsConfig;
  return {
    ...written,
    ...classAuthorization,
    tls_config: tlsConfig
      ? within('tlsConfig', () => writeTls(withFilesOfClass(tlsConfig, classTls), own))
      : classTls && writeTls(classTls, ofClass),
  };
}

/** Files of the scrape class are used where the object has neither a file nor a Secret. */
function withFilesOfClass(tls: TlsConfig, ofClass: TlsConfig | undefined): TlsConfig {
  if (ofClass === undefined) return tls;
  return {
    ...tls,
    ...(!hasSource(tls.ca) && !tls.caFile && { caFile: ofClass.caFile }),
    ...(!hasSource(tls.cert) && !tls.certFile && { certFile: ofClass.certFile }),
    ...(!tls.keySecret && !tls.keyFile && { keyFile: ofClass.keyFile }),
  };
}

/**
 * Relabelings that an object has itself, and after them the one that sets its enforced label.
 *
 * @param field that has the relabelings, as it is named in reasons
 */
export function ownRelabelings(
  field: string,
  relabelings: readonly Relabeling[] | undefined,
  object: Declared<SelectedKind>,
  context: ConfigurationContext,
): Relabelings {
  const enforced = enforcedLabel(object, context);
  return [
    ...within(field, () => writeRelabelings(relabelings, context.version)),
    ...(enforced === undefined ? [] : [setLabel(enforced.name, enforced.value)]),
  ];
}

/** Relabelings of the series of an object: those of its scrape class are the first. */
export function metricRelabelings(
  relabelings: readonly Relabeling[] | undefined,
  object: Declared<SelectedKind>,
  scrapeClass: CheckedScrapeClass | undefined,
  context: ConfigurationContext,
): Relabelings {
  return [
    ...(scrapeClass?.metricRelabelings ?? []),
    ...ownRelabelings('metricRelabelConfigs', relabelings, object, context),
  ];
}

/** What targets are: names of their labels in Prometheus' discovery. */
type LabeledBy = 'service' | 'pod' | 'ingress';

/**
 * Keeps the targets that a label selector selects.
 *
 * @throws {Refusal} for an invalid selector, with the message of Kubernetes
 */
export function selectTargets(selector: LabelSelectorFields | undefined, by: LabeledBy): Relabelings {
  if (selector === undefined) return [];
  selectorText(selector);
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const sourceLabels = (key: string) => [
    `__meta_kubernetes_${by}_label_${sanitizedLabel(key)}`,
    `__meta_kubernetes_${by}_labelpresent_${sanitizedLabel(key)}`,
  ];
  return [
    ...Object.entries(matchLabels)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, value]) => filterRelabeling('keep', sourceLabels(key), `(${quoted(value)});true`)),
    ...matchExpressions.map(({ key, operator, values = [] }) => {
      const any = `(${values.map(quoted).join('|')});true`;
      if (operator === 'In') return filterRelabeling('keep', sourceLabels(key), any);
      if (operator === 'NotIn') return filterRelabeling('drop', sourceLabels(key), any);
      const action = operator === 'Exists' ? 'keep' : 'drop';
      return filterRelabeling(action, sourceLabels(key).slice(1), 'true');
    }),
  ];
}

/** Of the characters of a label's value, a regular expression reads only dots otherwise. */
function quoted(value: string): string {
  return value.replaceAll('.', '\\.');
}

/** Removes absent fields; a block without fields is left out, too. */
export function job(name: string, fields: Block): Block {
  return { job_name: name, ...block(fields) };
}
