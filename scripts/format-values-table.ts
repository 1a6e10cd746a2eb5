import { readFileSync } from 'node:fs';
import { isMap, isScalar, parseDocument, type YAMLMap } from 'yaml';

/** Values that are passed to Kubernetes unchanged: users set them as a whole. */
const OF_KUBERNETES: ReadonlySet<string> = new Set([
  ...['livenessProbe', 'readinessProbe', 'resources', 'securityContext', 'podSecurityContext'],
  ...['nodeSelector', 'updateStrategy', 'tmpVolume', 'dashboard.labels'],
]);

/** The values of a chart as a table: path, default, and the comment above each in its `values.yaml`. */
export function formatValuesTable(chart: string): string {
  const { contents } = parseDocument(readFileSync(`manifests/charts/${chart}/values.yaml`, 'utf8'));
  if (!isMap(contents)) throw new Error(`Cannot read values of chart ${chart}: not a map`);
  return [
    '| value | default | what it is |',
    '| --- | --- | --- |',
    ...rowsOf(contents as YAMLMap, ''),
    '',
  ].join('\n');
}

function rowsOf(map: YAMLMap, prefix: string, firstComment = ''): readonly string[] {
  return map.items.flatMap(({ key, value }, index) => {
    if (!isScalar(key)) return [];
    const path = `${prefix}${key.value}`;
    const above = index === 0 ? (map.commentBefore ?? firstComment) : key.commentBefore;
    const comment = prefix === '' && index === 0 ? '' : (above ?? '');
    if (isMap(value) && value.items.length > 0 && !OF_KUBERNETES.has(path)) {
      const inside = rowsOf(value as YAMLMap, `${path}.`);
      return comment ? [`| \`${path}\` | | ${oneLine(comment)} |`, ...inside] : inside;
    }
    const shown = JSON.stringify((value as { toJSON?(): unknown } | null)?.toJSON?.() ?? null);
    return [`| \`${path}\` | \`${shown}\` | ${oneLine(comment)} |`];
  });
}

function oneLine(comment: string): string {
  return comment
    .split('\n')
    .filter((line) => !/^ *- |^ {2,}\S|^ \w+:(?: |$)/.test(line)) // examples in YAML
    .map((line) => line.trim())
    .join(' ')
    .replaceAll('|', '\\|')
    .trim();
}
