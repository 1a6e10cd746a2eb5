import type { Registry } from 'prom-client';
import type { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { openPaths } from './access/authorizer.ts';
import { type DelegatedAccessOptions, startDelegatedAccess } from './access/delegated-access.ts';
import { type ApiServer, type ApiServerOptions, startApiServer } from './api-server.ts';
import type { VersionInfo } from './discovery/version-info.ts';
import type { HealthCheck } from './health.ts';
import type { Endpoint } from './http/api-context.ts';
import type { ApiGroup } from './resources/api-group.ts';
import type { ServingOptions } from './server-options.ts';
import { openServingCertificates } from './serving/serving-certificates.ts';

/** A part of a program that serves APIs and endpoints, and works in the background. */
export interface ServedSubsystem extends AsyncDisposable {
  readonly groups: readonly ApiGroup[];
  readonly healthChecks: readonly HealthCheck[];
  /** Served beside the groups, by path. */
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  /** Endpoints that every caller may get; none by default. */
  readonly openPaths?: readonly string[];
  /** Endpoints that people open in browsers, and the form that they get without credentials; none by default. */
  readonly signIn?: NonNullable<ApiServerOptions['signIn']>;

  /** Starts the background work, once the server listens; returns at once. */
  start(): void;
}

interface SubsystemServerOptions extends DelegatedAccessOptions {
  readonly serving: ServingOptions;
}

export interface SubsystemServerEnvironment {
  readonly access: ClusterAccess;
  /** Of the API server that reviews tokens; by default `access`. */
  readonly authenticationAccess?: ClusterAccess | undefined;
  /** Of the API server that reviews permissions; by default `access`. */
  readonly authorizationAccess?: ClusterAccess | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly version: VersionInfo;
  readonly registry: Registry;
  /** For requests to these API servers. */
  readonly userAgent: string;
}

/**
 * Serves subsystems on one API server and starts them. It listens first: a subsystem may take the last file descriptor,
 * and the API server of the cluster needs discovery, ready or not.
 *
 * @throws when a given file cannot be used or it cannot listen on the address
 */
export async function serveSubsystems(
  subsystems: readonly ServedSubsystem[],
  options: SubsystemServerOptions,
  environment: SubsystemServerEnvironment,
): Promise<ApiServer> {
  const { access, clock, logger, registry, userAgent, version } = environment;
  await using starting = new AsyncDisposableStack();
  const certificates = starting.use(await openServingCertificates({ ...options.serving, clock, logger }));
  const { authenticationAccess = access, authorizationAccess = access } = environment;
  const { authenticator, authorizer } = starting.use(
    await startDelegatedAccess(options, {
      ...{ authenticationAccess, authorizationAccess, clock, logger, userAgent, registry },
    }),
  );
  const server = starting.use(
    await startApiServer({
      ...{ registry, version, certificates, authenticator, clock, logger },
      ...options.serving,
      groups: subsystems.flatMap(({ groups }) => groups),
      healthChecks: subsystems.flatMap(({ healthChecks }) => healthChecks),
      endpoints: new Map(subsystems.flatMap(({ endpoints }) => [...endpoints])),
      signIn: subsystems.find(({ signIn }) => signIn)?.signIn,
      authorizer: openPaths(
        subsystems.flatMap(({ openPaths = [] }) => openPaths),
        authorizer,
      ),
    }),
  );
  for (const subsystem of subsystems) subsystem.start();
  const started = starting.move();
  return { address: server.address, [Symbol.asyncDispose]: () => started.disposeAsync() };
}
