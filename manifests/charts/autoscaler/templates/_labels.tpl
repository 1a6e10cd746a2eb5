{{- define "autoscaler.selectorLabels" -}}
app.kubernetes.io/name: {{ include "autoscaler.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "autoscaler.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "autoscaler.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Labels and annotations of the objects that exist only while the doctor runs. */}}
{{- define "autoscaler.doctorsMetadata" -}}
labels:
  {{- include "autoscaler.labels" . | nindent 2 }}
annotations:
  helm.sh/hook: test
  helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}

{{/* Rules with which the doctor checks the objects of each enabled subsystem. Add those of a new subsystem here. */}}
{{- define "autoscaler.doctorsRules" -}}
{{- if .Values.controllers.cronhpa.enabled }}
# Objects to scale, their schedules, and other scalers.
- apiGroups: [autoscaling.stke.com, autoscaling.alibabacloud.com]
  resources: [cronhorizontalpodautoscalers]
  verbs: [list]
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers]
  verbs: [list]
# Existence of targets.
{{- range .Values.scaleResources }}
- apiGroups: [{{ .apiGroup | quote }}]
  resources:
    {{- range .resources }}
    - {{ printf "%s/scale" . }}
    {{- end }}
  verbs: [get]
{{- end }}
{{- end }}
{{- if .Values.controllers.scaledobjects.enabled }}
# The objects, the Deployments that may be KEDA's operator, and the provider of external metrics. Triggers with an authentication
# are not queried, because the doctor may not read Secrets.
- apiGroups: [keda.sh]
  resources: [scaledobjects, scaledjobs]
  verbs: [list]
- apiGroups: [apps]
  resources: [deployments]
  verbs: [list]
- apiGroups: [apiregistration.k8s.io]
  resources: [apiservices]
  resourceNames: [v1beta1.external.metrics.k8s.io]
  verbs: [get]
- apiGroups: [""]
  resources: [services]
  verbs: [get]
{{- end }}
{{- if or .Values.metricsApis.custom.enabled .Values.metricsApis.external.enabled }}
{{- if not .Values.controllers.cronhpa.enabled }}
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers]
  verbs: [list]
{{- end }}
# Metrics of HPAs: whether they are served, and the responses of their sources.
- apiGroups: [apiregistration.k8s.io]
  resources: [apiservices]
  resourceNames: [v1beta1.custom.metrics.k8s.io, v1beta2.custom.metrics.k8s.io, v1beta1.external.metrics.k8s.io]
  verbs: [get]
- apiGroups: [custom.metrics.k8s.io, external.metrics.k8s.io]
  resources: ["*"]
  verbs: [get, list]
- apiGroups: [""]
  resources: [pods]
  verbs: [list, watch]
- apiGroups: [apps]
  resources: [deployments, statefulsets, replicasets]
  verbs: [get]
{{- end }}
{{- end }}

{{/* Flags that the autoscaler and its doctor have in common. */}}
{{- define "autoscaler.args" -}}
- {{ printf "--controllers=%s" (include "autoscaler.controllers" .) | quote }}
- --enable-custom-metrics-api={{ .Values.metricsApis.custom.enabled }}
- --enable-external-metrics-api={{ .Values.metricsApis.external.enabled }}
{{- if .Values.metricsApis.custom.scalingSchedules }}
- --scaling-schedule
{{- end }}
{{- if and .Values.controllers.cronhpa.enabled .Values.controllers.cronhpa.alibaba }}
- --alibaba-cron-hpas
{{- end }}
{{- if .Values.controllers.scaledobjects.enabled }}
- {{ printf "--keda-namespace=%s" .Values.keda.namespace | quote }}
{{- with .Values.credentials.tokenAudience }}
- {{ printf "--bound-service-account-token-audience=%s" . | quote }}
{{- end }}
{{- end }}
- {{ printf "--leader-elect-resource-name=%s" (include "autoscaler.fullname" .) | quote }}
- {{ printf "--leader-elect-resource-namespace=%s" .Release.Namespace | quote }}
{{- end }}
