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

{{/* Metadata but for the name of what is there for as long as the doctor looks. */}}
{{- define "autoscaler.doctorsMetadata" -}}
labels:
  {{- include "autoscaler.labels" . | nindent 2 }}
annotations:
  helm.sh/hook: test
  helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}

{{/* What each subsystem that is switched on needs to have its objects looked at; a new one adds its rules here. */}}
{{- define "autoscaler.doctorsRules" -}}
{{- if .Values.controllers.cronhpa.enabled }}
# Objects to scale, their schedules, and other scalers.
- apiGroups: [autoscaling.stke.com]
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
# The objects, the lease of KEDA's operator, and the provider of external metrics. Triggers with an authentication are not
# queried: that would require Secrets.
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

{{/* The flags that choose what the autoscaler does, which its doctor takes, too. */}}
{{- define "autoscaler.args" -}}
- {{ printf "--controllers=%s" (include "autoscaler.controllers" .) | quote }}
- --enable-custom-metrics-api={{ .Values.metricsApis.custom.enabled }}
- --enable-external-metrics-api={{ .Values.metricsApis.external.enabled }}
{{- if .Values.metricsApis.custom.scalingSchedules }}
- --scaling-schedule
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
