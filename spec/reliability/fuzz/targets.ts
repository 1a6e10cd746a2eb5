import { readFileSync } from 'node:fs';
import { parseQuery } from '#lib/apiserver/http/query-values.ts';
import { parseRequestInfo } from '#lib/apiserver/http/request-info.ts';
import { StatusError } from '#lib/apiserver/http/status-error.ts';
import { parseListOptions } from '#lib/apiserver/resources/list-options.ts';
import { parseContinueToken } from '#lib/apiserver/resources/list-page.ts';
import { FlagError } from '#lib/flags/parse-flags.ts';
import { parseFieldSelector } from '#lib/kubernetes/selectors/field-selector.ts';
import { parseLabelSelector, SelectorError } from '#lib/kubernetes/selectors/label-selector.ts';
import { reduceNode } from '#lib/resource-metrics/nodes/node-cache.ts';
import { PodReducer } from '#lib/resource-metrics/nodes/pod-cache.ts';
import { parseOptions } from '#lib/resource-metrics/options.ts';
import { decodeExposition } from '#lib/resource-metrics/scrape/decoding/exposition-decoder.ts';
import { decodeSummary } from '#lib/resource-metrics/scrape/decoding/summary-decoder.ts';
import { ExcessiveResponse } from '#lib/resource-metrics/scrape/response-bounds.ts';
import { NodeMismatchError } from '#lib/resource-metrics/scrape/scrape-error.ts';
import { parseDurationMs } from '#lib/time/duration.ts';
import { type FuzzTarget, isPlainError, never, parseJson, readAll } from './fuzz-target.ts';
import { HEADER_TARGETS } from './header-targets.ts';
import { OBJECT_TARGETS } from './object-targets.ts';
import { SOURCE_TARGETS } from './source-targets.ts';
import { TRIGGER_TARGETS } from './trigger-targets.ts';

const KUBELET = 'spec/fixtures/kubelet/series';
const recorded = (name: string) => readFileSync(`${KUBELET}/${name}`, 'utf8');
const ORIGIN = {
  nodeName: 'lab-node',
  requestedAtMs: 0,
  respondedAtMs: 1,
  receivedAtMs: 1,
  receivedAtWallMs: 1_795_251_662_000,
};

const isResponseRefusal = (error: unknown) =>
  isPlainError(error) || error instanceof ExcessiveResponse || error instanceof NodeMismatchError;
const isSelectorError = (error: unknown) => error instanceof SelectorError;
const isStatusError = (error: unknown) => error instanceof StatusError;

const SELECTORS = [
  'app=web',
  'app in (a, b),tier notin (c),!old,new',
  'a==b,c!=d,e>1,f<2',
  'example.com/role=x-y_z.0',
];
const FIELD_SELECTORS = [
  'metadata.name=a',
  'metadata.namespace!=kube-system,metadata.name==b',
  'a=\\,\\=\\\\',
];
const LIST_QUERIES = [
  'labelSelector=app%3Dweb&limit=500&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ',
  'fieldSelector=metadata.name%3Da&watch=true&timeoutSeconds=300&resourceVersion=0&resourceVersionMatch=NotOlderThan',
  'pretty=true&timeout=34s&allowWatchBookmarks=1',
];

/** Kubelets' responses may have 16 MiB, but excessive cost is detectable far below that. */
const KUBELET_BOUND = 1024 * 1024;

export const FUZZ_TARGETS: readonly FuzzTarget[] = [
  ...HEADER_TARGETS,
  {
    name: 'summary decoder',
    bound: KUBELET_BOUND,
    seeds: [recorded('t0-summary.json'), recorded('t1-summary-cpu-memory.json')],
    read: (text) => decodeSummary(Buffer.from(text), ORIGIN),
    isRefusal: isResponseRefusal,
  },
  {
    name: 'exposition decoder',
    bound: KUBELET_BOUND,
    seeds: [recorded('t0-metrics-resource.txt')],
    read: (text) => decodeExposition(Buffer.from(text), ORIGIN),
    isRefusal: isResponseRefusal,
  },
  {
    name: 'nodes and pods of the API server',
    seeds: [recorded('node.json'), recorded('pods.json')],
    read: (text) => {
      const object = parseJson(text);
      return readAll(
        isPlainError,
        () => reduceNode(object),
        () => new PodReducer().reduce(object),
      );
    },
    isRefusal: never,
  },
  { name: 'label selector', seeds: SELECTORS, read: parseLabelSelector, isRefusal: isSelectorError },
  { name: 'field selector', seeds: FIELD_SELECTORS, read: parseFieldSelector, isRefusal: isSelectorError },
  {
    name: 'list options',
    seeds: LIST_QUERIES,
    read: (text) => parseListOptions(parseQuery(text)),
    isRefusal: isStatusError,
  },
  {
    name: 'request line',
    seeds: ['/apis/metrics.k8s.io/v1beta1/namespaces/default/pods/web-1', '/livez/ping', '//a/%2F/..'],
    read: (text) => parseRequestInfo('GET', text, new URLSearchParams()),
    isRefusal: isStatusError,
  },
  {
    name: 'continue token',
    seeds: [Buffer.from('{"v":"meta.k8s.io/v1","start":"default/web-1"}').toString('base64url')],
    read: parseContinueToken,
    isRefusal: isStatusError,
  },
  { name: 'duration', seeds: ['1m30s', '1.5h', '-2µs', '0'], read: parseDurationMs, isRefusal: never },
  {
    name: 'command line',
    seeds: [
      '--metric-resolution=15s --kubelet-preferred-address-types=InternalIP,Hostname -v=2',
      '--kubelet-insecure-tls --secure-port 10250 --node-selector=a in (b)',
      '--tls-sni-cert-key=a,b:c --requestheader-allowed-names=x,y --help=false',
    ],
    read: (text) => parseOptions(text.split(' ')),
    isRefusal: (error) => error instanceof FlagError,
  },
  ...OBJECT_TARGETS,
  ...TRIGGER_TARGETS,
  ...SOURCE_TARGETS,
];
