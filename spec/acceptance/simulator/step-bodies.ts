/** Where most steps go. */
export const WIDGETS_PATH = '/apis/example.com/v1/namespaces/default/widgets';
/** Where a built-in kind without a schema of its own is. */
export const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
/** Where a built-in kind with rules is. */
export const HPAS = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers';
/** As kubectl asks for what it prints. */
export const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1';

/** A custom resource, as it is created. */
export const widget = (name: string, spec: object = { colour: 'red' }, metadata: object = {}) => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { ...(name === '' ? {} : { name }), ...metadata },
  spec,
});

/** One, as it is applied. */
export const applied = (name: string, fields: object) => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name },
  ...fields,
});

/** A built-in object. */
export const configMap = (name: string, data: object, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
});
