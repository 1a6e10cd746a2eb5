import type { NewObject } from '#simulator/objects/kubernetes-object.ts';

/** A CustomResourceDefinition with every feature that the simulator serves: `widgets.example.com`. */
export const WIDGETS: NewObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'], categories: ['all'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.replicas',
            statusReplicasPath: '.status.replicas',
            labelSelectorPath: '.status.selector',
          },
        },
        additionalPrinterColumns: [
          { name: 'Colour', type: 'string', jsonPath: '.spec.colour' },
          { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: {
          openAPIV3Schema: {
            description: 'A widget is what this definition is tried with.',
            type: 'object',
            required: ['spec'],
            properties: {
              spec: {
                description: 'What the widget is to be.',
                type: 'object',
                required: ['colour'],
                properties: {
                  colour: { type: 'string', enum: ['red', 'blue'], description: 'How it looks.' },
                  replicas: { type: 'integer', minimum: 0, maximum: 10, default: 1 },
                  size: { 'x-kubernetes-int-or-string': true },
                  note: { type: 'string', nullable: true, pattern: '^[a-z ]*$' },
                  tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
                  parts: {
                    type: 'array',
                    maxItems: 3,
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: {
                      type: 'object',
                      required: ['name'],
                      properties: {
                        name: { type: 'string' },
                        weight: { type: 'integer', default: 7 },
                        unit: { type: 'string' },
                      },
                    },
                  },
                  anything: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                },
              },
              status: {
                type: 'object',
                properties: {
                  replicas: { type: 'integer' },
                  selector: { type: 'string' },
                  conditions: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['type'],
                    items: {
                      type: 'object',
                      required: ['type', 'status'],
                      properties: {
                        type: { type: 'string' },
                        status: { type: 'string' },
                        reason: { type: 'string' },
                      },
                    },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};
