import type { ScrapeSettings } from '../objects/common-fields.ts';
import type { PrometheusSpec } from '../objects/prometheus.ts';
import { refuse } from '../objects/refusal.ts';
import type { Block } from './block.ts';
import type { PrometheusVersion } from './prometheus-version.ts';
import { supports } from './version-gates.ts';

/** Names of a limit: in objects, enforced by a Prometheus, and in its configuration. */
const LIMITS = [
  ['sampleLimit', 'enforcedSampleLimit', 'sample_limit'],
  ['targetLimit', 'enforcedTargetLimit', 'target_limit'],
  ['labelLimit', 'enforcedLabelLimit', 'label_limit'],
  ['labelNameLengthLimit', 'enforcedLabelNameLengthLimit', 'label_name_length_limit'],
  ['labelValueLengthLimit', 'enforcedLabelValueLengthLimit', 'label_value_length_limit'],
  ['keepDroppedTargets', 'enforcedKeepDroppedTargets', 'keep_dropped_targets'],
] as const;

/**
 * Limits of a job: its own, at most the enforced one. Without an own limit, a job has the one of the whole configuration, if
 * the version has that.
 */
export function jobLimits(own: ScrapeSettings, spec: PrometheusSpec, version: PrometheusVersion): Block {
  const inherits = supports('limits that jobs inherit', version);
  return Object.fromEntries(
    LIMITS.map(([field, enforcedField, name]) => {
      const enforced = spec[enforcedField];
      return [name, own[field] === undefined && inherits ? undefined : lesser(own[field], enforced)];
    }),
  );
}

/** Limits of the whole configuration, which jobs without an own limit inherit. */
export function globalLimits(spec: PrometheusSpec): Block {
  return Object.fromEntries(
    LIMITS.map(([field, enforcedField, name]) => [name, lesser(spec[field], spec[enforcedField])]),
  );
}

/** 0 means no limit. */
function lesser(own: number | undefined, enforced: number | undefined): number | undefined {
  if (own === undefined || enforced === undefined) return own ?? enforced;
  if (own === 0 || enforced === 0) return own || enforced;
  return Math.min(own, enforced);
}

/**
 * The body size of a scrape: the own limit of an object, at most the enforced one.
 *
 * @throws {Refusal} for an own limit that is too large for Prometheus
 */
export function bodySizeLimit(own: string | undefined, enforced: string | undefined): string | undefined {
  if (own && bytesOf(own) >= MAX_BYTES && bytesOf(own) !== Number.POSITIVE_INFINITY)
    refuse(`bodySizeLimit ${own} is too large`);
  if (!own || !enforced) return own || enforced;
  return bytesOf(own) <= bytesOf(enforced) ? own : enforced;
}

/** Prometheus counts bytes in 64 bits. */
const MAX_BYTES = 2 ** 63;
const POWERS = ['', 'K', 'M', 'G', 'T', 'P', 'E'];

/** As Prometheus reads sizes: `1KB` are 1024 bytes, like `1KiB`. `0` is no limit. */
function bytesOf(text: string): number {
  const [, amount = '0', unit = ''] = /^([\d.]+)([KMGTPE]?)i?B?$/.exec(text) ?? [];
  const bytes = Number(amount) * 1024 ** POWERS.indexOf(unit);
  return bytes === 0 ? Number.POSITIVE_INFINITY : bytes;
}
