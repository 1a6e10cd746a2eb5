import type { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Check, type Finding, ok } from '#lib/doctor/check.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { certificatesIn, oneLine } from '#lib/resource-metrics/doctor/certificates.ts';
import { failed } from '#lib/resource-metrics/doctor/diagnoses.ts';
import type { DoctorContext } from '#lib/resource-metrics/doctor/doctor-context.ts';

const CONFIG_MAP = 'extension-apiserver-authentication';
const PATH = `/api/v1/namespaces/kube-system/configmaps/${CONFIG_MAP}`;
const SUBJECT = 'front proxy';

/** Checks that the API server forwards requests, and that the server accepts its front proxy certificate. */
export const aggregationLayer: Check<DoctorContext> = {
  name: 'aggregation-layer',
  title: 'Aggregation layer',

  async run(context) {
    const data = propertyOf(await context.get(PATH, `get configmaps ${CONFIG_MAP}`), 'data');
    const authorities = certificatesIn(textAt(data, 'requestheader-client-ca-file'));
    if (authorities.length === 0) {
      const seen = `ConfigMap kube-system/${CONFIG_MAP} has no requestheader-client-ca-file`;
      return [failed(SUBJECT, seen, { diagnosis: 'aggregation-off' })];
    }
    const allowed = namesIn(textAt(data, 'requestheader-allowed-names'));
    return [
      describeExpiry(authorities, context.clock.nowMs()),
      ...(await compareAuthorities(context, authorities)),
      ...compareNames(context, allowed),
    ];
  },
};

function describeExpiry(authorities: readonly X509Certificate[], nowMs: number): Finding {
  const names = authorities.map(({ subject }) => oneLine(subject)).join(', ');
  const lastMs = Math.max(...authorities.map(({ validToDate }) => validToDate.getTime()));
  const until = new Date(lastMs).toISOString();
  return lastMs < nowMs
    ? failed(SUBJECT, `signed by ${names}, expired at ${until}`, {
        diagnosis: 'front-proxy-ca-expired',
      })
    : ok(SUBJECT, `signed by ${names}, valid until ${until}`);
}

async function compareAuthorities(
  { options }: DoctorContext,
  authorities: readonly X509Certificate[],
): Promise<readonly Finding[]> {
  const { frontProxyCaFile } = options.authentication;
  if (frontProxyCaFile === undefined) return [];
  const subject = `--requestheader-client-ca-file=${frontProxyCaFile}`;
  const configured = certificatesIn(await readFile(frontProxyCaFile, 'utf8'));
  const isShared = authorities.some((one) =>
    configured.some((other) => one.fingerprint256 === other.fingerprint256),
  );
  if (isShared) return [ok(subject, "contains the cluster's CA")];
  return [
    failed(
      subject,
      `contains ${configured.map((one) => oneLine(one.subject)).join(', ') || 'no certificate'}, not the cluster's CA`,
      { diagnosis: 'front-proxy-ca-differs', FILE: frontProxyCaFile },
    ),
  ];
}

/** The flag applies only together with a CA file; without one, the cluster's names apply. */
function compareNames({ options }: DoctorContext, allowed: readonly string[]): readonly Finding[] {
  const { frontProxyCaFile, frontProxyAllowedNames: configured } = options.authentication;
  const ofCluster = allowed.length === 0 ? 'any name' : allowed.join(', ');
  const subject = `front proxy's names`;
  if (frontProxyCaFile === undefined || configured.length === 0) return [ok(subject, ofCluster)];
  if (allowed.length > 0 && allowed.every((name) => configured.includes(name)))
    return [ok(subject, ofCluster)];
  return [
    failed(
      subject,
      `the cluster allows ${ofCluster}; --requestheader-allowed-names allows only ${configured.join(', ')}`,
      {
        diagnosis: 'front-proxy-names-differ',
        NAMES: allowed.join(',') || 'any (remove the flag)',
      },
    ),
  ];
}

function namesIn(json: string): readonly string[] {
  const names: unknown = json === '' ? [] : JSON.parse(json);
  return Array.isArray(names) ? names.map(String) : [];
}

function textAt(data: unknown, key: string): string {
  const text = propertyOf(data, key);
  return typeof text === 'string' ? text : '';
}
