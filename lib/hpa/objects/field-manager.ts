/** Under this name the API server keeps which fields of HPAs are ours. */
export const FIELD_MANAGER = 'autoscaler-hpa';
