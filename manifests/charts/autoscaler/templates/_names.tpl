{{/* The name of the chart, within the length of a label value. */}}
{{- define "autoscaler.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The name of the objects of the release: RELEASE-CHART, or RELEASE if it contains the name of the chart. */}}
{{- define "autoscaler.fullname" -}}
{{- $name := include "autoscaler.name" . }}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) }}
{{- default $full .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "autoscaler.serviceAccountName" -}}
{{- $made := ternary (include "autoscaler.fullname" .) "default" .Values.serviceAccount.create }}
{{- default $made .Values.serviceAccount.name }}
{{- end }}

{{/* The service account that gets the permissions, as subjects of a binding. */}}
{{- define "autoscaler.subjects" -}}
- kind: ServiceAccount
  name: {{ include "autoscaler.serviceAccountName" . }}
  namespace: {{ .Release.Namespace }}
{{- end }}

{{- define "autoscaler.image" -}}
{{ printf "%s:%s" .Values.image.repository (default (printf "v%s" .Chart.AppVersion) .Values.image.tag) | quote }}
{{- end }}

{{/* The enabled controllers, as the value of --controllers. */}}
{{- define "autoscaler.controllers" -}}
{{- $names := list }}
{{- range $name, $controller := .Values.controllers }}
{{- if $controller.enabled }}{{ $names = append $names $name }}{{ end }}
{{- end }}
{{- join "," $names }}
{{- end }}

{{/* The name of the Service of the webhook, and of the Secret with its certificate. */}}
{{- define "autoscaler.webhookName" -}}
{{ printf "%s-webhook" (include "autoscaler.fullname" . | trunc 55 | trimSuffix "-") }}
{{- end }}

{{- define "autoscaler.webhookSecret" -}}
{{ default (include "autoscaler.webhookName" .) .Values.webhook.existingSecret }}
{{- end }}
