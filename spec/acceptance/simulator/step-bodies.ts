/** Used by most steps. */
export const WIDGETS_PATH = '/apis/example.com/v1/namespaces/default/widgets';
/** A built-in kind without a schema. */
export const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
/** A built-in kind with validation rules. */
export const HPAS = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers';
/** Accept header of `kubectl get`. */
export const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1';

/** A custom resource for a create request. */
export const widget = (name: string, spec: object = { colour: 'red' }, metadata: object = {}) => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { ...(name === '' ? {} : { name }), ...metadata },
  spec,
});

/** A custom resource for an apply request. */
export const applied = (name: string, fields: object) => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name },
  ...fields,
});

/** A built-in object for a create request. */
export const configMap = (name: string, data: object, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
});
