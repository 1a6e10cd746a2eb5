import { stringify } from 'yaml';
import type { Block } from './block.ts';

/** Formats a configuration as Prometheus reads it: what YAML 1.1 would read as a number or boolean is quoted. */
export function formatConfiguration(file: Block): string {
  return stringify(file, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });
}
