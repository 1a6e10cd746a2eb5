import { parseArgs } from 'node:util';
import type { ServerAddress } from './api-server/aggregator.ts';
import type { ScenarioInput } from './scenario.ts';

/** The command line of `npm run simulate`. */
export interface CommandLine {
  readonly help: boolean;
  readonly port: number;
  readonly kubeletPort: number;
  readonly kubeconfig: string | undefined;
  readonly metricsServerKubeconfig: string | undefined;
  readonly filesDirectory: string | undefined;
  readonly scenarioFile: string | undefined;
  /** Fields of the scenario that flags set; they override the file. */
  readonly scenario: ScenarioInput;
  readonly metricsServer: ServerAddress;
  readonly autoscaler: ServerAddress | undefined;
}

interface Flag {
  readonly type: 'string' | 'boolean';
  readonly value?: string;
  readonly help: string;
}

const FLAGS = {
  nodes: { type: 'string', value: 'N', help: 'number of nodes (3)' },
  'pods-per-node': { type: 'string', value: 'N', help: 'pods on each node (10)' },
  'containers-per-pod': { type: 'string', value: 'N', help: 'containers in each pod (1)' },
  seed: {
    type: 'string',
    value: 'N',
    help: 'seed of names and loads: clusters of different seeds differ (1)',
  },
  namespaces: {
    type: 'string',
    value: 'N',
    help: 'distribute pods among team-1 to team-N (default, kube-system and monitoring)',
  },
  'apps-per-namespace': {
    type: 'string',
    value: 'N',
    help: 'number of values of the label app in each namespace (5)',
  },
  'feature-gates': {
    type: 'string',
    value: 'GATE=BOOL,…',
    help: 'of kubelets; KubeletPSI=false writes the summaries of kubelets before 1.34',
  },
  scenario: {
    type: 'string',
    value: 'FILE',
    help: 'YAML or JSON with these and more settings; flags override it',
  },
  port: {
    type: 'string',
    value: 'PORT',
    help: 'port of the API server on 127.0.0.1; 0 for any free port (6443)',
  },
  'kubelet-port': {
    type: 'string',
    value: 'PORT',
    help: 'port of all kubelets, each at its own address from 127.1.0.1 on; 0 for any free port (10250)',
  },
  'metrics-server': {
    type: 'string',
    value: 'HOST:PORT',
    help: 'address of the server of metrics.k8s.io, which may start later (127.0.0.1:4443)',
  },
  autoscaler: {
    type: 'string',
    value: 'HOST:PORT',
    help: 'address of the server of custom.metrics.k8s.io and external.metrics.k8s.io (none)',
  },
  kubeconfig: { type: 'string', value: 'FILE', help: "file for the administrator's kubeconfig" },
  'metrics-server-kubeconfig': {
    type: 'string',
    value: 'FILE',
    help: "file for a kubeconfig with metrics-server's service account",
  },
  'files-dir': {
    type: 'string',
    value: 'DIR',
    help: 'directory for both kubeconfigs and all CA certificates',
  },
  help: { type: 'boolean', help: 'show this help' },
} as const satisfies Record<string, Flag>;

/** A scenario with examples of its fields; all are optional. */
export const EXAMPLE_SCENARIO = `nodes: 50
podsPerNode: 20
namespaces: [shop, kube-system]
cpuMillicores: { from: 10, to: 100 }
nodeOverrides:
  node-3: { faults: [refuse] }
  node-4: { faults: [{ delayMs: 2000 }, { status: 500 }] }
  node-5: { certificate: name-only, clockSkewMs: 60000, labels: { disk: fast } }
pods:
  - name: burner
    namespace: shop
    node: node-1
    containers:
      - { name: burn, cpuMillicores: 60, memoryBytes: 25165824 }
`;

export const USAGE = [
  'Simulates a Kubernetes cluster on loopback addresses: an API server, and kubelets with advancing counters.',
  '',
  'Usage: npm run -s simulate -- [FLAGS]',
  '',
  ...Object.entries<Flag>(FLAGS).map(
    ([name, { value = '', help }]) => `  ${`--${name} ${value}`.padEnd(34)}${help}`,
  ),
  '',
  'Example of a scenario:',
  '',
  ...EXAMPLE_SCENARIO.split('\n').map((line) => `  ${line}`),
].join('\n');

/** @throws Error of one line with flag, value and rule */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const { values } = parse(args);
  const scenario = {
    ...wholeNumber('nodes', values.nodes),
    ...wholeNumber('podsPerNode', values['pods-per-node'], 'pods-per-node'),
    ...wholeNumber('containersPerPod', values['containers-per-pod'], 'containers-per-pod'),
    ...wholeNumber('namespaces', values.namespaces),
    ...wholeNumber('appsPerNamespace', values['apps-per-namespace'], 'apps-per-namespace'),
    ...wholeNumber('seed', values.seed),
    ...featureGates(values['feature-gates']),
  };
  return {
    help: values.help ?? false,
    port: portOf('port', values.port ?? '6443'),
    kubeletPort: portOf('kubelet-port', values['kubelet-port'] ?? '10250'),
    kubeconfig: values.kubeconfig,
    metricsServerKubeconfig: values['metrics-server-kubeconfig'],
    filesDirectory: values['files-dir'],
    scenarioFile: values.scenario,
    scenario,
    metricsServer: hostAndPort('metrics-server', values['metrics-server'] ?? '127.0.0.1:4443'),
    autoscaler: values.autoscaler === undefined ? undefined : hostAndPort('autoscaler', values.autoscaler),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: FLAGS, allowPositionals: false });
  } catch (error) {
    const [message = ''] = (error instanceof Error ? error.message : String(error)).split(/\. |\n/);
    throw new Error(`Cannot start: ${message}`, { cause: error });
  }
}

function wholeNumber(
  field: keyof ScenarioInput,
  text: string | undefined,
  flag: string = field,
): ScenarioInput {
  if (text === undefined) return {};
  if (!/^\d+$/.test(text)) throw new Error(`Cannot start: --${flag}=${text} is not a whole number`);
  return { [field]: Number(text) };
}

/** Parses feature gates as Kubernetes' own programs do; the scenario validates their names. */
function featureGates(text: string | undefined): ScenarioInput {
  if (text === undefined) return {};
  const gates = text.split(',').map((gate): [string, boolean] => {
    const [, name = '', value] = /^(\w+)=(true|false)$/.exec(gate) ?? [];
    if (value === undefined)
      throw new Error(`Cannot start: --feature-gates=${text} is not a list of GATE=true or GATE=false`);
    return [name, value === 'true'];
  });
  return { featureGates: Object.fromEntries(gates) };
}

function portOf(flag: string, text: string): number {
  const port = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new Error(`Cannot start: --${flag}=${text} is not a port from 0 to 65535`);
  return port;
}

function hostAndPort(flag: string, text: string): ServerAddress {
  const [, host = '', port = ''] = /^(.+):(\d+)$/.exec(text) ?? [];
  if (host === '') throw new Error(`Cannot start: --${flag}=${text} is not HOST:PORT`);
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: portOf(flag, port) };
}
