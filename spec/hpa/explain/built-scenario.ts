/** A workload at 50 % of CPU whose load doubles after a minute, and drops to a fifth after five. */
export const SCENARIO = `
hpa:
  metadata: { name: web }
  spec:
    scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }
    minReplicas: 2
    maxReplicas: 20
    metrics:
      - type: Resource
        resource: { name: cpu, target: { type: Utilization, averageUtilization: 50 } }
replicas: 4
requests: { cpu: 100m }
duration: 15m
load:
  - { at: 0s, cpu: 200m }
  - { at: 1m, cpu: 400m }
  - { at: 5m, cpu: 80m }
`;
