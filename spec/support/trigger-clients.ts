import { TriggerClients } from '#lib/scaled-objects/triggers/trigger-clients.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { systemClock } from '#lib/time/clock.ts';

/** Clients of sources on loopback addresses. */
export function triggerClients(): TriggerClients {
  const options = { clock: systemClock, allowedHosts: new AllowedHosts(['127.0.0.0/8']), userAgent: 'spec' };
  return new TriggerClients(options);
}
