import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  dataOf,
  parseClientAuthorities,
  parseRequestHeaderConfig,
} from '#lib/apiserver/access/authentication-config.ts';
import { parsePathRules } from '#lib/apiserver/access/authorizer.ts';
import { parseCaBundle } from '#lib/apiserver/access/certificate-chain.ts';
import { readLease } from '#lib/control/lease.ts';
import { readAlibabaCronHpa } from '#lib/cron-hpa/alibaba-cron-hpa.ts';
import { readCronHpa } from '#lib/cron-hpa/cron-hpa.ts';
import { readHpa } from '#lib/cron-hpa/target-conflicts.ts';
import { findInHosts, readSearch } from '#lib/dns/resolver-files.ts';
import { parseListenAddress } from '#lib/flags/listen-address.ts';
import { parseWeek } from '#lib/hpa/min-replicas/persisted-weeks.ts';
import { readConfigMap } from '#lib/hpa/state/config-map-parts.ts';
import { parseRecord } from '#lib/hpa/state/persisted-state.ts';
import { readCurrentContext } from '#lib/kubernetes/access/kubeconfig.ts';
import { readJson, splitLines } from '#lib/kubernetes/client/api-client.ts';
import { apiErrorOf } from '#lib/kubernetes/client/api-error.ts';
import { parseApiVersion } from '#lib/kubernetes/client/api-resource.ts';
import { findText } from '#lib/kubernetes/client/watch-lines.ts';
import { readPlainHpa, readHpa as readWholeHpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import { readObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { readWorkload, readWorkloadScale } from '#lib/kubernetes/objects/workload.ts';
import { parseNanos, parseThousandths } from '#lib/kubernetes/quantity.ts';
import { isMisspeltConfigKey, readScaledHpa } from '#lib/metrics-adapter/collected-metrics.ts';
import { readIngress, readRouteGroup } from '#lib/metrics-adapter/collectors/skipper-collector.ts';
import { parseAnnotationKey, readAnnotations } from '#lib/metrics-adapter/read-annotations.ts';
import { readScalingSchedule } from '#lib/metrics-adapter/scaling-schedules/scaling-schedule.ts';
import { readScheduledHpa } from '#lib/metrics-adapter/scaling-schedules/scaling-schedule-controller.ts';
import { readDeclared } from '#lib/prometheus-operator/objects/declared-object.ts';
import { readObjectType } from '#lib/prometheus-operator/selection/object-set.ts';
import { readRunningPod } from '#lib/resource-metrics/doctor/doctor-context.ts';
import { chooseScrapeTarget } from '#lib/resource-metrics/nodes/node-address.ts';
import { reduceNode } from '#lib/resource-metrics/nodes/node-cache.ts';
import { PodReducer } from '#lib/resource-metrics/nodes/pod-cache.ts';
import { parseOptions } from '#lib/resource-metrics/options.ts';
import { decodeExposition } from '#lib/resource-metrics/scrape/decoding/exposition-decoder.ts';
import { decodeSummary, parseRfc3339 } from '#lib/resource-metrics/scrape/decoding/summary-decoder.ts';
import {
  readScaledJob,
  readScaledObject,
  readTriggerAuthentication,
} from '#lib/scaled-objects/api/cached-objects.ts';
import { parseSchedule } from '#lib/schedule/parse-schedule.ts';
import { parseSourceUrl } from '#lib/sources/http/source-url.ts';
import { readFluxTables } from '#lib/sources/http-apis/read-flux-tables.ts';
import { readQueryError, readQueryResponse } from '#lib/sources/http-apis/read-prometheus-response.ts';
import { jsonExtract } from '#lib/sources/json/json-query.ts';
import { parseExpression, parseJsonPath } from '#lib/sources/json/parse-jsonpath.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { parseAddressRange } from '#lib/sources/network/ip-address.ts';
import { readSqlSource } from '#lib/sources/sql/sql-source.ts';
import { printable } from '#lib/telemetry/printable.ts';
import { readTargetPod } from '#spec/support/target-pod.ts';
import { distinct, type ForeignReader, nested, repeated } from './foreign-reader.ts';

const MEBIBYTE = 1024 * 1024;
const KUBELET = { length: 16 * MEBIBYTE, by: '--kubelet-max-response-bytes' };
const OBJECT = { length: 1.5 * MEBIBYTE, by: 'etcd' };
const WATCH_LINE = { length: 8 * MEBIBYTE, by: 'MAX_LINE_BYTES' };
/** The operator writes these files and could do more harm otherwise; the bound is only that of the measurement. */
const OWN_FILE = { length: MEBIBYTE / 4, by: 'the operator' };
/** Linux' limit for one argument. */
const ARGUMENT = { length: 128 * 1024, by: 'the kernel' };

const TIMES = { requestedAtMs: 0, respondedAtMs: 1, receivedAtMs: 1, receivedAtWallMs: 1_795_251_662_000 };
const ORIGIN = { nodeName: 'a', ...TIMES };
const RULES = {
  preferredAddressTypes: ['InternalIP', 'Hostname'],
  port: 10250,
  useNodeStatusPort: true,
  verifyNodeName: true,
};

const DEEP_SUM = jsonExtract({ form: 'path', text: '$..*', aggregator: 'sum' });
const TARGET = '"target":{"type":"AverageValue","averageValue":"1"}';
const OBJECT_HEAD = '{"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"1",';

/** Readers of kubelets' responses. */
export const KUBELET_READERS: readonly ForeignReader[] = [
  {
    name: 'summary',
    files: ['summary-decoder.ts', 'complete-pod.ts'],
    bound: KUBELET,
    shapes: {
      pods: distinct(
        (index) => `{"podRef":{"name":"p${index}","namespace":"n"},"containers":[{"name":"c"}]},`,
        {
          before: '{"pods":[',
          behind: '{}]}',
        },
      ),
      escapes: repeated('\\"', { before: '{"node":{"nodeName":"', behind: '"}}' }),
      'broken off in a string': repeated('a', { before: '{"node":"' }),
      nesting: nested('[', ']', { before: '{"node":', behind: '}' }),
      'numbers of many digits': repeated('9', { before: '{"node":', behind: '}' }),
    },
    read: (text) => decodeSummary(Buffer.from(text), ORIGIN),
  },
  {
    name: 'exposition',
    files: ['exposition-decoder.ts'],
    bound: KUBELET,
    shapes: {
      series: distinct(
        (index) =>
          `container_cpu_usage_seconds_total{container="c",namespace="n",pod="p${index}"} 1 1795251660000\n`,
      ),
      'one long value': repeated('1', { before: 'node_cpu_usage_seconds_total ', behind: 'x\n' }),
      'one long label': repeated('\\"', {
        before: 'container_cpu_usage_seconds_total{pod="',
        behind: '"} 1\n',
      }),
      labels: distinct((index) => `l${index}="",`, {
        before: 'container_cpu_usage_seconds_total{',
        behind: '} 1\n',
      }),
      'white space': repeated(' ', { before: 'node_cpu_usage_seconds_total', behind: 'x\n' }),
      'line feeds': repeated('\n', { behind: 'node_cpu_usage_seconds_total 1\n' }),
    },
    read: (text) => decodeExposition(Buffer.from(text), ORIGIN),
  },
  {
    name: 'stamp',
    files: ['summary-decoder.ts'],
    bound: KUBELET,
    shapes: {
      digits: repeated('1', { before: '2026-01-01T00:00:00.', behind: 'Z' }),
      dashes: repeated('2026-'),
    },
    read: parseRfc3339,
  },
  {
    name: 'what a terminal is shown',
    files: [],
    bound: { length: MEBIBYTE, by: 'the peer that says it' },
    shapes: { escapes: repeated('\x1b[2J'), 'line feeds': repeated(' \n') },
    read: printable,
  },
];

/** Readers of objects that the API server and its users write. */
export const CLUSTER_READERS: readonly ForeignReader[] = [
  {
    name: 'node',
    files: [],
    bound: OBJECT,
    shapes: {
      addresses: (length) =>
        nodeWith(distinct((index) => `{"type":"InternalIP${index}","address":"10.0.0.1"},`)(length)),
      'a long address': (length) => nodeWith(`{"type":"InternalIP","address":"${'1.'.repeat(length / 2)}"},`),
    },
    read: (text) => {
      const node = reduceNode(JSON.parse(text));
      return node && chooseScrapeTarget(node, RULES);
    },
  },
  {
    name: 'pod',
    files: ['doctor-context.ts', 'kubernetes-object.ts', 'pod.ts', 'target-pods.ts'],
    bound: OBJECT,
    shapes: {
      labels: distinct((index) => `"l${index}":"v",`, {
        before: '{"metadata":{"name":"p","namespace":"n","uid":"u","labels":{',
        behind: '"z":""}},"spec":{"nodeName":"a"},"status":{"startTime":"2026"}}',
      }),
      'a long time': repeated('2026-', {
        before:
          '{"metadata":{"name":"p","namespace":"n","uid":"u"},"spec":{"nodeName":"a"},"status":{"startTime":"',
        behind: '"}}',
      }),
    },
    read: (text) => {
      const pod: unknown = JSON.parse(text);
      return [new PodReducer().reduce(pod), readRunningPod(pod), readObject(pod), readTargetPod(pod)];
    },
  },
  {
    name: 'autoscalers and leases',
    files: [
      'cron-hpa.ts',
      'alibaba-cron-hpa.ts',
      'target-conflicts.ts',
      'lease.ts',
      'cached-objects.ts',
      'workload.ts',
      'config-map-parts.ts',
    ],
    bound: OBJECT,
    shapes: {
      annotations: distinct((index) => `"a${index}":"v",`, {
        before: `${OBJECT_HEAD}"annotations":{`,
        behind: '"z":""}},"spec":{"maxReplicas":1,"scaleTargetRef":{"kind":"a","name":"b"},"jobs":[]}}',
      }),
      jobs: repeated('{"name":"a","schedule":"* * * * *","targetSize":1},', {
        before: `${OBJECT_HEAD}"generation":1},"spec":{"scaleTargetRef":{"kind":"a","name":"b"},"jobs":[`,
        behind: '{}]}}',
      }),
      'no metrics': repeated('7,', {
        before: `${OBJECT_HEAD}"generation":1},"spec":{"maxReplicas":1,"scaleTargetRef":{"kind":"a","name":"b"},"metrics":[`,
        behind: '7]}}',
      }),
      data: distinct((index) => `"k${index}":"v",`, {
        before: `${OBJECT_HEAD}"generation":1},"data":{`,
        behind: '"z":7}}',
      }),
    },
    read: (text) => {
      const object: unknown = JSON.parse(text);
      return [
        attempt(() => readPlainHpa(object)),
        attempt(() => readConfigMap(object)),
        readCronHpa(object),
        readAlibabaCronHpa(object),
        readHpa(object),
        attempt(() => readLease(object)),
        attempt(() => readScaledObject(object)),
        attempt(() => readScaledJob(object)),
        attempt(() => readTriggerAuthentication(object)),
        attempt(() => readWorkload(object)),
        attempt(() => readWorkloadScale(object)),
      ];
    },
  },
  {
    name: 'objects of monitoring.coreos.com',
    files: ['declared-object.ts', 'object-set.ts'],
    bound: OBJECT,
    shapes: {
      labels: distinct((index) => `"l${index}":"v",`, {
        before: `${OBJECT_HEAD}"labels":{`,
        behind: '"z":""}},"spec":{"selector":{},"endpoints":[]}}',
      }),
      endpoints: repeated('{"port":"web","relabelings":[{"sourceLabels":["a"]}]},', {
        before: `${OBJECT_HEAD}"generation":1},"spec":{"selector":{},"endpoints":[`,
        behind: '{}]}}',
      }),
      'wrong endpoints': repeated('7,', {
        before: `${OBJECT_HEAD}"generation":1},"spec":{"selector":{},"endpoints":[`,
        behind: '7]}}',
      }),
      nulls: distinct((index) => `"f${index}":null,`, {
        before: `${OBJECT_HEAD}"generation":1},"spec":{"selector":{},`,
        behind: '"endpoints":[]}}',
      }),
    },
    read: (text) => {
      const object: unknown = JSON.parse(text);
      return [attempt(() => readDeclared('ServiceMonitor', object, 'default')), readObjectType(object)];
    },
  },
  {
    name: 'kept weeks of HPAs',
    files: ['persisted-weeks.ts'],
    bound: { length: 64 * 1024, by: 'MAX_RECORD' },
    shapes: {
      days: repeated('[1,2,3],', { before: '{"uid":"u","first":1,"peaks":{"cpu":[', behind: '[1,2,3]]}}' }),
      metrics: distinct((index) => `"m${index}":[],`, {
        before: '{"uid":"u","first":1,"peaks":{',
        behind: '"m":[]}}',
      }),
      brackets: repeated('['),
    },
    read: (text) => parseWeek(text),
  },
  {
    name: 'what is kept of an HPA in a config map',
    files: ['persisted-state.ts'],
    bound: { length: 256 * 1024, by: 'MAX_RECORD' },
    shapes: {
      recommendations: repeated('[1,2],', { before: '{"uid":"a","recommendations":[', behind: '[1,2]]}' }),
      nesting: nested('[', ']'),
    },
    read: (text) => parseRecord(text),
  },
  {
    name: 'lines of a watch that come in one piece',
    files: [],
    bound: { length: 64 * 1024, by: 'the socket' },
    shapes: { lines: repeated('{}\n'), 'nothing but line feeds': repeated('\n') },
    read: (text) => linesOf([Buffer.from(text)]),
  },
  {
    name: 'a line of a watch',
    files: [],
    bound: WATCH_LINE,
    shapes: { 'in small pieces': repeated('a', { behind: '\n' }) },
    read: (text) => {
      const bytes = Buffer.from(text);
      const pieces = Array.from({ length: Math.ceil(bytes.length / 1024) }, (_, index) =>
        bytes.subarray(index * 1024, (index + 1) * 1024),
      );
      return linesOf(pieces);
    },
  },
  {
    name: 'the UID in a line of a watch',
    files: [],
    bound: WATCH_LINE,
    shapes: {
      nesting: nested('[', ']'),
      members: distinct((index) => `"a${index}":{},`, { before: '{', behind: '"z":1}' }),
      backslashes: repeated('\\', { before: '{"a":"', behind: '"}' }),
      quotes: repeated('\\"', { before: '{"a":"', behind: '"}' }),
      open: repeated('{"a":'),
    },
    read: (text) => findText(text, ['object', 'metadata', 'uid']),
  },
  {
    name: 'JSON of a response',
    files: ['api-client.ts'],
    bound: WATCH_LINE,
    shapes: {
      nesting: nested('[', ']'),
      members: distinct((index) => `"a${index}":1,`, { before: '{', behind: '"z":1}' }),
    },
    read: (text) => readJson(ofChunks([Buffer.from(text)]) as never, WATCH_LINE.length),
  },
  {
    name: 'Status and Retry-After',
    files: [],
    bound: { length: 64 * 1024, by: 'MAX_REFUSAL_BYTES' },
    shapes: {
      digits: repeated('1', { behind: 'x' }),
      spaces: repeated(' ', { behind: 'x' }),
      nesting: nested('[', ']'),
    },
    read: (text) => apiErrorOf('Cannot list', { statusCode: 429, body: text, retryAfter: text }),
  },
  {
    name: 'config map of whom to believe',
    files: ['authentication-config.ts', 'certificate-chain.ts'],
    bound: { length: MEBIBYTE, by: 'the API server' },
    shapes: {
      'beginnings of certificates': repeated('-----BEGIN CERTIFICATE-----'),
      'one that does not end': repeated('A', { before: '-----BEGIN CERTIFICATE-----\n' }),
      'empty certificates': repeated('-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE-----\n'),
      names: repeated('"a",', { before: '[', behind: '"z"]' }),
      nesting: nested('[', ']'),
    },
    read: (text) => {
      const data = dataOf({ data: { 'client-ca-file': text, 'requestheader-username-headers': text } });
      return [
        attempt(() => parseClientAuthorities(data)),
        attempt(() => parseRequestHeaderConfig(data)),
        parseCaBundle(text),
      ];
    },
  },
  {
    name: 'apiVersion',
    files: ['api-resource.ts'],
    bound: OBJECT,
    shapes: { slashes: repeated('/') },
    read: parseApiVersion,
  },
  {
    name: 'quantity',
    files: ['quantity.ts'],
    bound: OBJECT,
    shapes: {
      digits: repeated('1'),
      'digits, then something else': repeated('1', { behind: 'x' }),
      points: repeated('.'),
    },
    read: (text) => [attempt(() => parseThousandths(text)), parseNanos(text)],
  },
  {
    name: 'schedule',
    files: ['parse-schedule.ts', 'calendar-schedule.ts'],
    bound: { length: 256, by: 'MAX_TEXT' },
    shapes: {
      ranges: repeated('0-59,', { behind: '0 * * * *' }),
      spaces: repeated(' ', { before: '*', behind: '* * * *' }),
    },
    read: (text) => parseSchedule(text, { timeZone: 'UTC', anchorMs: 0 }),
  },
];

/** Readers of sources' responses and of their configured addresses. */
export const METRIC_SOURCE_READERS: readonly ForeignReader[] = [
  {
    name: 'response of Prometheus',
    files: ['read-prometheus-response.ts'],
    bound: { length: 4 * MEBIBYTE, by: 'MAX_BYTES' },
    shapes: {
      samples: repeated('{"metric":{"a":"b"},"value":[1,"2"]},', {
        before: '{"status":"success","data":{"resultType":"vector","result":[',
        behind: '{"metric":{},"value":[1,"2"]}]}}',
      }),
      labels: distinct((index) => `"l${index}":"",`, {
        before: '{"status":"success","data":{"resultType":"vector","result":[{"metric":{',
        behind: '"z":""},"value":[1,"2"]}]}}',
      }),
      'what is no sample': repeated('1,', {
        before: '{"status":"success","data":{"resultType":"vector","result":[',
        behind: '1]}}',
      }),
      nesting: nested('[', ']'),
      'a long error': repeated('a', { before: '{"status":"error","error":"', behind: '"}' }),
    },
    read: (text) => {
      const body = Buffer.from(text);
      return [attempt(() => readQueryResponse(body)), readQueryError(body)];
    },
  },
  {
    name: 'response of InfluxDB',
    files: ['read-flux-tables.ts', 'read-flux-tables.ts'],
    bound: { length: 4 * MEBIBYTE, by: 'MAX_BYTES' },
    shapes: {
      'quotes within a field': repeated('""', { before: '"', behind: '"' }),
      commas: repeated(','),
      'blank lines': repeated('\r\n'),
      columns: distinct((index) => `,c${index}`, { behind: '\r\n,1\r\n' }),
      annotations: repeated('#datatype,string\r\n'),
      tables: repeated('#datatype,long\r\n_value\r\n\r\n'),
      digits: repeated('1', { before: '_value\r\n', behind: 'x' }),
    },
    read: (text) => attempt(() => readFluxTables(text, ['_value'])),
  },
  {
    name: 'JSON of any endpoint',
    files: ['read-json.ts'],
    bound: { length: 4 * MEBIBYTE, by: 'MAX_BYTES' },
    shapes: {
      nesting: nested('[', ']'),
      'many values': repeated('{},', { before: '[', behind: '{}]' }),
      'one long text': repeated('\\"', { before: '"', behind: '"' }),
      members: distinct((index) => `"a${index}":"${'b'.repeat(32)}",`, { before: '{', behind: '"z":1}' }),
      digits: repeated('9'),
    },
    read: (text) => attempt(() => DEEP_SUM.readNumber(Buffer.from(text))),
  },
  {
    name: 'JSONPath and expressions',
    files: ['parse-jsonpath.ts'],
    bound: { length: 4096, by: 'MAX_LENGTH' },
    shapes: {
      names: repeated('.a', { before: '$' }),
      brackets: repeated('[0]', { before: '$' }),
      'brackets within brackets': nested('[?(@', ')]', { before: '$' }),
      parentheses: nested('(', ')', { within: '1' }),
      operators: repeated('1+', { behind: '1' }),
      signs: repeated('-', { behind: '1' }),
      'white space': repeated(' ', { before: '1', behind: '1' }),
      'a long text': repeated('\\a', { before: "$['", behind: "']" }),
      digits: repeated('1', { before: '$[', behind: ']' }),
    },
    read: (text) => [attempt(() => parseJsonPath(text)), attempt(() => parseExpression(text))],
  },
  {
    name: 'Ingresses and RouteGroups',
    files: ['skipper-collector.ts'],
    bound: OBJECT,
    shapes: {
      rules: repeated('{"host":"a.b"},', {
        before: `${OBJECT_HEAD}"a":1},"spec":{"rules":[`,
        behind: '{}]}}',
      }),
      weights: (length) => {
        const weights = distinct((index) => `"b${index}":1,`, { before: '{', behind: '"z":1}' });
        return JSON.stringify({
          metadata: { annotations: { weights: weights(Math.min(length, 60_000)) } },
          spec: { rules: [{ host: 'a'.repeat(Math.max(1, length - 80_000)) }] },
        });
      },
    },
    read: (text) => {
      const object: unknown = JSON.parse(text);
      return [attempt(() => readIngress(object, ['weights'])), attempt(() => readRouteGroup(object))];
    },
  },
  {
    name: 'HPAs and their metrics',
    files: ['collected-metrics.ts', 'hpa-versions.ts'],
    bound: OBJECT,
    shapes: {
      metrics: repeated(`{"type":"External","external":{"metric":{"name":"a"},${TARGET}}},`, {
        before: `${OBJECT_HEAD}"annotations":{}},"spec":{"maxReplicas":1,"scaleTargetRef":{"kind":"a","name":"b"},"metrics":[`,
        behind: '{"type":"Later"}]}}',
      }),
      annotations: distinct((index) => `"metric-config.pods.m${index}.b/c":"",`, {
        before: `${OBJECT_HEAD}"annotations":{`,
        behind: '"z":""}},"spec":{"maxReplicas":1,"scaleTargetRef":{"kind":"a","name":"b"},"metrics":[]}}',
      }),
    },
    read: (text) => {
      const hpa = readScaledHpa(readWholeHpa(JSON.parse(text), 'v2'));
      if (!hpa) throw new Error('the shape is no HPA');
      return readAnnotations(hpa.annotations);
    },
  },
  {
    name: 'a scaling schedule',
    files: ['scaling-schedule.ts'],
    bound: OBJECT,
    shapes: {
      days: repeated('"Mon",', {
        before: `${OBJECT_HEAD}"labels":{}},"spec":{"schedules":[{"type":"Repeating","value":1,"period":{"startTime":"01:00","timezone":"UTC","days":[`,
        behind: '"Sun"]}}]}}',
      }),
      'one long zone': repeated('a/', {
        before: `${OBJECT_HEAD}"labels":{}},"spec":{"schedules":[{"type":"Repeating","value":1,"period":{"startTime":"01:00","days":["Mon"],"timezone":"`,
        behind: '"}}]}}',
      }),
    },
    read: (text) => readScalingSchedule(JSON.parse(text), 'ScalingSchedule'),
  },
  {
    name: 'an HPA that schedules scale',
    files: ['scaling-schedule-controller.ts'],
    bound: OBJECT,
    shapes: {
      metrics: repeated(
        `{"type":"Object","object":{"metric":{"name":"a"},"describedObject":{"apiVersion":"zalando.org/v1","kind":"ScalingSchedule","name":"a"},${TARGET}}},`,
        {
          before: `${OBJECT_HEAD}"annotations":{}},"spec":{"maxReplicas":1,"scaleTargetRef":{"kind":"a","name":"b"},"metrics":[`,
          behind: '{"type":"Later"}]}}',
        },
      ),
    },
    read: (text) => readScheduledHpa(readWholeHpa(JSON.parse(text), 'v2')),
  },
  {
    name: 'annotations of HPAs',
    files: ['read-annotations.ts', 'collected-metrics.ts', 'collected-metrics.ts', 'read-annotations.ts'],
    bound: { length: 64 * 1024, by: 'MAX_LIST_LENGTH' },
    shapes: {
      // The maximum number, and far more.
      keys: distinct((index) => `a-long-name-of-a-key${String(index).padStart(5)}:\n`),
      'short keys': distinct((index) => `a${index}:\n`),
      commas: repeated(',', { before: '[' }),
      'commas far apart': repeated('            ,', { before: '[', behind: ']' }),
      anchors: repeated('&abcdefghijk '),
      dots: repeated('.', { before: 'metric-config.' }),
      slashes: repeated('/', { before: 'metric-config.a.b.c' }),
      'a long word': repeated('m', { before: 'metrics-config.' }),
      entries: repeated('- {type: Pods, metric: a, collector: b, interval: 1s}\n'),
      nesting: nested('[', ']'),
      'a long interval': repeated('1', {
        before: '- {type: Pods, metric: a, collector: b, interval: "',
        behind: '"}',
      }),
      quotes: repeated("'"),
    },
    read: (text) => [
      parseAnnotationKey(text),
      isMisspeltConfigKey(text),
      readAnnotations({ 'metric-config/collectors': text }),
    ],
  },
  {
    name: 'where a source is',
    files: ['source-url.ts', 'ip-address.ts'],
    bound: ARGUMENT,
    shapes: {
      dots: repeated('.', { before: 'http://a' }),
      groups: repeated('1:', { before: 'http://[' }),
      zeros: repeated('0', { before: '10.0.0.0/' }),
      labels: repeated('a.', { before: '*.', behind: '!' }),
    },
    read: (text) => [
      parseSourceUrl(text),
      parseAddressRange(text),
      attempt(() => new AllowedHosts([text])),
      new AllowedHosts(['*.example']).allows(text, '10.0.0.1'),
    ],
  },
];

/** Readers of files and arguments. */
export const OPERATOR_READERS: readonly ForeignReader[] = [
  {
    name: 'a file that describes a database',
    files: ['sql-source.ts'],
    bound: { length: 256 * 1024, by: 'MAX_LENGTH' },
    shapes: {
      brackets: repeated('['),
      keys: distinct((index) => `k${index}: a\n`),
      'white space': repeated(' ', { before: 'host:', behind: 'a' }),
      'one long host': repeated('a', { before: 'host: ' }),
      dashes: repeated('- '),
    },
    read: readSqlSource,
  },
  {
    name: 'where to listen',
    files: ['listen-address.ts'],
    bound: ARGUMENT,
    shapes: { colons: repeated(':'), digits: repeated('1', { before: ':' }), brackets: repeated('[') },
    read: parseListenAddress,
  },
  {
    name: 'flags',
    files: ['parse-flags.ts', 'options.ts', 'autoscaler-options.ts', 'authorizer.ts'],
    bound: ARGUMENT,
    shapes: {
      switches: repeated('-v=1 '),
      lists: repeated(',a', { before: '--requestheader-allowed-names=a' }),
      'one list, flag by flag': repeated('--kubelet-preferred-address-types=InternalIP '),
      underscores: repeated('_', { before: '--' }),
      letters: repeated('v', { before: '-' }),
      'digits and a point': repeated('1', { before: '--kube-api-qps=1.', behind: 'x' }),
    },
    read: (text) => [parsePathRules(text.split(',')), parseOptions(text.trim().split(' '))],
  },
  {
    name: 'hosts, resolv.conf',
    files: ['resolver-files.ts'],
    bound: OWN_FILE,
    shapes: {
      'white space': repeated(' ', { before: '10.0.0.1', behind: 'x' }),
      comments: repeated('#'),
      names: distinct((index) => ` n${index}`, { before: '10.0.0.1' }),
      options: repeated(' ndots:1', { before: 'options' }),
      lines: repeated('search a.\n'),
    },
    read: (text) => [findInHosts(text, 'a'), readSearch(text)],
  },
  {
    name: 'kubeconfig',
    files: ['kubeconfig.ts', 'read-yaml.ts'],
    bound: { length: MEBIBYTE / 16, by: 'the operator' },
    shapes: {
      keys: distinct((index) => `${index}: \n`),
      users: distinct((index) => `- {name: u${index}, user: {}}\n`, { before: 'users:\n' }),
      'a long text': repeated('a', { before: 'current-context: "', behind: '"' }),
      'aliases of aliases': (length) => `a: &a [x]\n${distinct((index) => `b${index}: [*a, *a]\n`)(length)}`,
    },
    read: async (text) => {
      const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
      try {
        const path = join(folder, 'kubeconfig');
        writeFileSync(path, text);
        return await readCurrentContext(path);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  },
];

async function linesOf(pieces: readonly Uint8Array[]): Promise<void> {
  for await (const line of splitLines(ofChunks(pieces), WATCH_LINE.length)) if (line === '') return;
}

function nodeWith(addresses: string): string {
  return `{"metadata":{"name":"a"},"status":{"addresses":[${addresses}{}]}}`;
}

async function* ofChunks(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

function attempt(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return error;
  }
}
