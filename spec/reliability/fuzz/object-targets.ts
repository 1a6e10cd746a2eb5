import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StatusError } from '#lib/apiserver/http/status-error.ts';
import { parseAutoscalerOptions } from '#lib/autoscaler/options/autoscaler-options.ts';
import { withFlagsOfEnvironment } from '#lib/autoscaler/options/scaled-objects-flags.ts';
import { readLease } from '#lib/control/lease.ts';
import { readAlibabaCronHpa } from '#lib/cron-hpa/alibaba-cron-hpa.ts';
import { readCronHpa } from '#lib/cron-hpa/cron-hpa.ts';
import { readHpa } from '#lib/cron-hpa/target-conflicts.ts';
import { parseListenAddress } from '#lib/flags/listen-address.ts';
import { FlagError } from '#lib/flags/parse-flags.ts';
import { parseLoadCsv, parseScenario } from '#lib/hpa/explain/scenario.ts';
import { metricValues } from '#lib/hpa/inputs/metric-values-client.ts';
import { podMetricsList } from '#lib/hpa/inputs/pod-metrics-client.ts';
import { autoMinSettings } from '#lib/hpa/min-replicas/auto-min-settings.ts';
import { parseWeek } from '#lib/hpa/min-replicas/persisted-weeks.ts';
import { parseRecord } from '#lib/hpa/state/persisted-state.ts';
import { readCurrentContext } from '#lib/kubernetes/access/kubeconfig.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { MalformedResponse } from '#lib/kubernetes/client/api-error.ts';
import { HPA_VERSIONS, readHpa as readHpaOf } from '#lib/kubernetes/objects/hpa-versions.ts';
import { readObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { appliedFields, appliedStatus } from '#lib/kubernetes/objects/managed-fields.ts';
import { scaledPod } from '#lib/kubernetes/objects/pod.ts';
import { readWorkloadScale } from '#lib/kubernetes/objects/workload.ts';
import { parseNanos, parseThousandths, Quantity, QuantityError } from '#lib/kubernetes/quantity.ts';
import { parseLabelSelector, SelectorError } from '#lib/kubernetes/selectors/label-selector.ts';
import { selectorText } from '#lib/kubernetes/selectors/selector-object.ts';
import { structuredSelector } from '#lib/metrics-adapter/api/metric-value-list.ts';
import { readScaledHpa } from '#lib/metrics-adapter/collected-metrics.ts';
import { readIngress, readRouteGroup } from '#lib/metrics-adapter/collectors/skipper-collector.ts';
import { parseAnnotationKey, readAnnotations } from '#lib/metrics-adapter/read-annotations.ts';
import { readScalingSchedule } from '#lib/metrics-adapter/scaling-schedules/scaling-schedule.ts';
import { readScheduledHpa } from '#lib/metrics-adapter/scaling-schedules/scaling-schedule-controller.ts';
import { goBoolean, readKedaAnnotations } from '#lib/scaled-objects/api/annotations.ts';
import { compileScaledObject } from '#lib/scaled-objects/preparation/prepared-scaled-object.ts';
import { brokenByAuthentication } from '#lib/scaled-objects/triggers/authentication/resolve-authentication.ts';
import {
  readAdmissionReview,
  reviewed,
  UnreadableReview,
} from '#lib/scaled-objects/validation/admission-review.ts';
import { CheckFailure } from '#lib/scaled-objects/validation/check-failure.ts';
import { limitedByDefault } from '#lib/scaled-objects/validation/limit-ranges.ts';
import { checkScaledObject } from '#lib/scaled-objects/validation/validate-scaled-object.ts';
import { parseExcludedDays } from '#lib/schedule/excluded-dates.ts';
import { parseSchedule } from '#lib/schedule/parse-schedule.ts';
import { ScheduleError } from '#lib/schedule/schedule.ts';
import { readTargetPod } from '#spec/support/target-pod.ts';
import {
  type FuzzTarget,
  isPlainError,
  isPlainOrSchemaError,
  never,
  parseJson,
  readAll,
} from './fuzz-target.ts';

const META = '"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"1","generation":2';
const isScheduleError = (error: unknown) => error instanceof ScheduleError;
const isReviewRefusal = (error: unknown) =>
  error instanceof UnreadableReview || error instanceof CheckFailure;
const isMalformed = (error: unknown) => error instanceof MalformedResponse;

const SCALED_OBJECT = `{${META},"annotations":{"autoscaling.keda.sh/paused-replicas":"2","autoscaling.keda.sh/paused":"true"}},"spec":{"scaleTargetRef":{"name":"web"},"pollingInterval":30,"cooldownPeriod":300,"minReplicaCount":0,"maxReplicaCount":10,"idleReplicaCount":0,"triggers":[{"type":"cron","name":"t","metadata":{"timezone":"UTC","start":"0 6 * * *","end":"0 20 * * *","desiredReplicas":"5"},"authenticationRef":{"name":"x"}}],"advanced":{"scalingModifiers":{"formula":"t + 1","target":"2"},"horizontalPodAutoscalerConfig":{"behavior":{"scaleDown":{"stabilizationWindowSeconds":300,"policies":[{"type":"Percent","value":50,"periodSeconds":60}]}}}},"fallback":{"failureThreshold":3,"replicas":6}}}`;
const HPA = `{${META},"annotations":{"metric-config.pods.rps.json-path/path":"/metrics"},"creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"},"minReplicas":1,"maxReplicas":5,"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}},{"type":"Object","object":{"describedObject":{"apiVersion":"zalando.org/v1","kind":"ScalingSchedule","name":"s"},"metric":{"name":"s"},"target":{"type":"AverageValue","averageValue":"1"}}},{"type":"External","external":{"metric":{"name":"q","selector":{"matchLabels":{"type":"zmon"}}},"target":{"type":"Value","value":"5"}}}]},"status":{"currentReplicas":1,"desiredReplicas":2,"lastScaleTime":"2026-01-01T00:00:00Z"}}`;

/** Readers of objects of the API server and of texts in them. */
export const OBJECT_TARGETS: readonly FuzzTarget[] = [
  {
    name: 'schedule',
    bound: 4096,
    seeds: [
      '0 30 6 * * Mon-Fri',
      'TZ=Europe/Berlin 0/5 1-3,7 2 2 ?',
      '@every 1h30m',
      '@daily',
      '*/10 0-23/2 1,15 jan-mar *',
    ],
    read: (text) => {
      const schedule = parseSchedule(text, { timeZone: 'America/New_York', anchorMs: 0 });
      return [schedule.next(1_795_251_662_000), schedule.previous(1_795_251_662_000)];
    },
    isRefusal: isScheduleError,
  },
  {
    name: 'excluded days',
    bound: 4096,
    seeds: ['* * * 15 11 *', '* * * 1,2 1-3 *', '* * * 28 feb *'],
    read: (text) => parseExcludedDays(text.split('\n'))(1_795_219_200_000),
    isRefusal: isScheduleError,
  },
  {
    name: 'quantity',
    seeds: ['100m', '1.5Gi', '12e6', '-3', '0.000000001', '9223372036854775807k'],
    read: async (text) => {
      Quantity.parse(text);
      await readAll(
        (error) => error instanceof QuantityError,
        () => parseNanos(text),
        () => parseThousandths(text),
      );
    },
    isRefusal: never,
  },
  {
    name: 'CronHPA',
    seeds: [
      `{${META},"annotations":{"platform.stke/adjust-hpa-min":"true"},"creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"},"excludeDates":["* * * 15 11 *"],"jobs":[{"name":"up","schedule":"0 0 8 * * *","targetSize":10,"runOnce":false,"timeZone":"UTC"}]},"status":{"conditions":[{"name":"up","jobId":"1","state":"Succeed","message":"ok","lastProbeTime":"2026-01-01T00:00:00Z"}]}}`,
    ],
    read: (text) => readCronHpa(parseJson(text)),
    isRefusal: isPlainError,
  },
  {
    name: 'CronHPA of kubernetes-cronhpa-controller',
    seeds: [
      `{${META},"annotations":{"autoscaling.stke.com/cron-hpa-status":"{\\"conditions\\":[]}"}},"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"},"cronMode":"Disable","excludeDates":["* * * 15 11"],"jobs":[{"name":"up","schedule":"@date 2026-10-27 21:54:00","targetSize":10,"runOnce":true}]},"status":{"conditions":[]}}`,
    ],
    read: (text) => readAlibabaCronHpa(parseJson(text)),
    isRefusal: isPlainError,
  },
  {
    name: 'HPA of the API server',
    seeds: [HPA],
    read: (text) => {
      const hpa = parseJson(text);
      const readers = HPA_VERSIONS.map((version) => () => {
        const read = readHpaOf(hpa, version);
        readAnnotations(readScaledHpa(read)?.annotations ?? {});
        readScheduledHpa(read);
      });
      return readAll(isPlainError, ...readers, () => readHpa(hpa));
    },
    isRefusal: isPlainOrSchemaError,
  },
  {
    name: 'annotations of HPAs',
    bound: 64 * 1024,
    seeds: [
      '- {type: Pods, metric: rps, collector: json-path, interval: 15s, json-key: "$.a", path: /m}\n',
      '- type: External\n  metric: q\n  collector: prometheus\n  query: "sum(rate(a[1m]))"\n- {type: Object}\n',
    ],
    read: (text) => readAnnotations({ 'metric-config/collectors': text }),
    isRefusal: never,
  },
  {
    name: 'keys of annotations',
    bound: 4096,
    seeds: ['metric-config.pods.rps.json-path/path', 'metric-config.external.q.prometheus/prometheus-server'],
    read: (text) => [parseAnnotationKey(text), readAnnotations({ [text]: text })],
    isRefusal: never,
  },
  {
    name: 'annotations that bound or pause',
    bound: 4096,
    seeds: ['recommend', '2', 'true', '2147483647', ' 1'],
    read: (text) => {
      const annotations = Object.fromEntries(
        [
          ...['autoscaling.stke.com/auto-min-replicas-lowest', 'autoscaling.keda.sh/paused-replicas'],
          ...['autoscaling.keda.sh/paused', 'scaledobject.keda.sh/transfer-hpa-ownership', text],
        ].map((name) => [name, text]),
      );
      const object = { metadata: { name: 'a', annotations } };
      goBoolean(text);
      return [autoMinSettings(annotations, 'apply'), readKedaAnnotations(object as never)];
    },
    isRefusal: never,
  },
  {
    name: 'ScaledObject in a review',
    seeds: [SCALED_OBJECT],
    read: (text) => {
      const object = reviewed.scaledObject(parseJson(text));
      const prepared = compileScaledObject(object);
      const others = { objects: [prepared], hpas: [], workload: undefined, limitedByDefault: [] };
      checkScaledObject(object, { prepared, ...others });
    },
    isRefusal: isReviewRefusal,
  },
  {
    name: 'authentication in a review',
    seeds: [
      `{${META}},"spec":{"podIdentity":{"provider":"none"},"secretTargetRef":[{"parameter":"a","name":"b","key":"c"}],"env":[{"parameter":"a","name":"B","containerName":"c"}]}}`,
      `{${META}},"spec":{"oauth2":{"type":"clientCredentials","clientId":"a","tokenUrl":"https://a"}}}`,
    ],
    read: (text) => brokenByAuthentication(reviewed.authentication(parseJson(text)).spec ?? {}),
    isRefusal: isReviewRefusal,
  },
  {
    name: 'AdmissionReview',
    seeds: [
      `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","kind":{"group":"keda.sh","version":"v1alpha1","kind":"ScaledObject"},"operation":"UPDATE","namespace":"n","dryRun":false,"object":${SCALED_OBJECT},"oldObject":null}}`,
    ],
    read: (text) => readAdmissionReview(Buffer.from(text)),
    isRefusal: isReviewRefusal,
  },
  {
    name: 'ScalingSchedule',
    seeds: [
      `{${META}},"spec":{"scalingWindowDurationMinutes":10,"schedules":[{"type":"Repeating","value":5,"durationMinutes":30,"period":{"startTime":"08:00","endTime":"20:00","timezone":"Europe/Berlin","days":["Mon","Fri"]}},{"type":"OneTime","value":7,"date":"2026-01-01T00:00:00Z","endDate":"2026-01-02T00:00:00+01:00"}]}}`,
    ],
    read: (text) => readScalingSchedule(parseJson(text), 'ScalingSchedule'),
    isRefusal: isPlainOrSchemaError,
  },
  {
    name: 'Ingress and RouteGroup',
    seeds: [
      `{${META},"annotations":{"zalando.org/backend-weights":"{\\"a\\":30,\\"b\\":70}"}},"spec":{"rules":[{"host":"a.example"}],"hosts":["b.example"],"backends":[{"name":"a"}],"defaultBackends":[{"backendName":"a","weight":1}],"routes":[{"backends":[{"backendName":"a","weight":1}]}]}}`,
    ],
    read: (text) => {
      const object = parseJson(text);
      return readAll(
        isPlainOrSchemaError,
        () => readIngress(object, ['zalando.org/backend-weights', 'constructor']),
        () => readRouteGroup(object),
      );
    },
    isRefusal: never,
  },
  {
    name: 'workloads and pods of the API server',
    seeds: [
      `{${META}},"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}],"initContainers":[{"name":"b","restartPolicy":"Always"}],"overhead":{"cpu":"1"}},"status":{"phase":"Running","startTime":"2026-01-01T00:00:00Z","conditions":[{"type":"Ready","status":"True","lastTransitionTime":null}]}}`,
      `{${META}},"spec":{"replicas":3,"selector":{"matchLabels":{"app":"a"},"matchExpressions":[{"key":"b","operator":"In","values":["c"]}]}},"status":{"replicas":3,"selector":"app=a","phase":"Running","podIP":"10.0.0.1","startTime":"2026-01-01T00:00:00Z","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`,
    ],
    read: (text) => {
      const object = parseJson(text) as { readonly spec?: { readonly selector?: unknown } } | undefined;
      return readAll(
        isPlainOrSchemaError,
        () => readWorkloadScale(object),
        () => readTargetPod(object),
        () => scaledPod(object),
        () => selectorText(object?.spec?.selector),
      );
    },
    isRefusal: isPlainOrSchemaError,
  },
  {
    name: 'selector of the metrics API',
    seeds: ['app=web,tier in (a, b),!old', 'a notin (b),c', 'a>1'],
    read: (text) => structuredSelector(parseLabelSelector(text)),
    isRefusal: (error) => error instanceof SelectorError || error instanceof StatusError,
  },
  {
    name: 'list of the metrics APIs',
    seeds: [
      '{"kind":"PodMetricsList","items":[{"metadata":{"name":"a","labels":{"app":"web"}},"timestamp":"2026-01-01T00:00:00Z","window":"30s","containers":[{"name":"c","usage":{"cpu":"10m","memory":"1Gi"}}]}]}',
      '{"kind":"ExternalMetricValueList","items":[{"metricName":"q","timestamp":"2026-01-01T00:00:00Z","value":"5","describedObject":{"kind":"Pod","name":"a"}}]}',
      '{"kind":"Status","message":"no"}',
    ],
    read: (text) => {
      const list = parseJson(text);
      return readAll(
        isMalformed,
        () => podMetricsList(list),
        () => metricValues(list),
      );
    },
    isRefusal: isMalformed,
  },
  {
    name: 'memory of HPAs in ConfigMaps',
    seeds: [
      '{"uid":"u","recommendations":[[3,1795251662000]],"scaleUps":[[1,1795251662000]],"scaleDowns":[],"latest":[2,1795251662000],"intent":[1,2,1795251662000]}',
      '{"uid":"u","first":20000,"peaks":{"cpu":[[1,2,3]]}}',
    ],
    read: (text) => [parseRecord(text), parseWeek(text)],
    isRefusal: never,
  },
  {
    name: 'Lease',
    seeds: [
      `{${META}},"spec":{"holderIdentity":"a","leaseDurationSeconds":15,"acquireTime":"2026-01-01T00:00:00.000000Z","renewTime":"2026-01-01T00:00:00.000000Z","leaseTransitions":3}}`,
    ],
    read: (text) => readLease(parseJson(text)),
    isRefusal: isPlainOrSchemaError,
  },
  {
    name: 'managed fields',
    seeds: [
      `{${META},"managedFields":[{"manager":"autoscaler","operation":"Apply","subresource":"status","fieldsV1":{"f:status":{"f:conditions":{"k:{\\"type\\":\\"Ready\\"}":{".":{},"f:status":{}}},"f:list":{"i:0":{},"v:\\"a\\"":{}}}}}]},"status":{"conditions":[{"type":"Ready","status":"True"}],"list":["a"]}}`,
    ],
    read: (text) => {
      const object = parseJson(text);
      return readAll(isPlainError, () => {
        const own = readObject(object);
        return [appliedStatus(own, 'autoscaler'), appliedFields(own, 'autoscaler')];
      });
    },
    isRefusal: isPlainError,
  },
  {
    name: 'limit ranges',
    seeds: [
      `{"metadata":{"resourceVersion":"5"},"items":[{${META}},"spec":{"limits":[{"type":"Container","default":{"cpu":"1"},"defaultRequest":{"memory":"1Gi"}}]}}]}`,
    ],
    read: (text) => {
      const client: Pick<ApiClient, 'getJson' | 'requestJson'> = {
        getJson: async () => parseJson(text) as never,
        requestJson: async () => parseJson(text) as never,
      };
      return limitedByDefault(client as ApiClient)('n', new AbortController().signal);
    },
    isRefusal: (error) => isPlainOrSchemaError(error) || isMalformed(error),
  },
  {
    name: 'kubeconfig',
    bound: 8 * 1024,
    seeds: [
      'apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts:\n- {name: a, context: {cluster: c, user: u}}\nclusters:\n- {name: c, cluster: {server: "https://10.0.0.1:6443", certificate-authority-data: YQ==}}\nusers:\n- {name: u, user: {token: t}}\n',
      '{"current-context":"a","contexts":[],"users":[{"name":"u","user":{"exec":{"command":"x","args":["y"],"env":[{"name":"A","value":"b"}]}}}]}',
    ],
    read: async (text) => {
      const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
      try {
        const path = join(folder, 'kubeconfig');
        writeFileSync(path, text);
        await readCurrentContext(path);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
    isRefusal: isPlainError,
  },
  {
    name: 'command line of the autoscaler',
    seeds: [
      '--controllers=hpa,cronhpa --leader-elect=true --watch-namespace=a,b --horizontal-pod-autoscaler-sync-period=15s -v=2',
      '--feature-gates=HPAConfigurableTolerance=true --prometheus-server=http://a:9090 --allowed-hosts=*.example,10.0.0.0/8',
      '--metrics-address [::1]:8080 --sql-source=a=/b --webhook-address=:9443 --cron-hpa-time-zone Europe/Berlin',
    ],
    read: (text) => parseAutoscalerOptions(text.split(' ')),
    isRefusal: (error) => error instanceof FlagError,
  },
  {
    name: "KEDA's environment and where to listen",
    bound: 4096,
    seeds: ['team-a,team-b', '30s', 'true', '[::1]:8080', ':0'],
    read: (text) => {
      const names = [
        'WATCH_NAMESPACE',
        'KEDA_HTTP_DEFAULT_TIMEOUT',
        'KEDA_RESTRICT_SECRET_ACCESS',
        'constructor',
      ];
      parseListenAddress(text);
      return withFlagsOfEnvironment([text], Object.fromEntries(names.map((name) => [name, text])));
    },
    isRefusal: (error) => error instanceof FlagError,
  },
  {
    name: 'scenario and load that explain decisions',
    seeds: [
      `hpa: {metadata: {name: web}, spec: {maxReplicas: 10, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}], scaleTargetRef: {kind: Deployment, name: web, apiVersion: apps/v1}}}\nreplicas: 2\nrequests: {cpu: 100m}\nduration: 10m\nload: [{at: 0s, cpu: "1"}]\n`,
      'at,cpu,q\n0s,1,5\n1m,2.5,\n',
    ],
    read: (text) =>
      readAll(
        isPlainError,
        () => parseScenario(text),
        () => parseLoadCsv(text),
      ),
    isRefusal: isPlainError,
  },
];
