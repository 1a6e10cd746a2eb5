import type { PrometheusSpec } from '../objects/prometheus.ts';
import type { Block } from './block.ts';

const ESCAPING = {
  AllowUTF8: 'allow-utf-8',
  Underscores: 'underscores',
  Dots: 'dots',
  Values: 'values',
} as const;

/** Which names of metrics are valid, and how they are requested from targets. */
export function nameSchemes({
  nameValidationScheme,
  nameEscapingScheme,
}: Pick<PrometheusSpec, 'nameValidationScheme' | 'nameEscapingScheme'>): Block {
  return {
    metric_name_validation_scheme: nameValidationScheme?.toLowerCase(),
    metric_name_escaping_scheme: nameEscapingScheme && ESCAPING[nameEscapingScheme],
  };
}
