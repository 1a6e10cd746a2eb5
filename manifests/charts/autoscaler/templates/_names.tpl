{{/* The chart's name as label values and resource names may be. */}}
{{- define "autoscaler.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* What everything in the release is called: the release's name alone if that has the chart's in it. */}}
{{- define "autoscaler.fullname" -}}
{{- $name := include "autoscaler.name" . }}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) }}
{{- default $full .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "autoscaler.serviceAccountName" -}}
{{- $made := ternary (include "autoscaler.fullname" .) "default" .Values.serviceAccount.create }}
{{- default $made .Values.serviceAccount.name }}
{{- end }}

{{/* Whom permissions are given. */}}
{{- define "autoscaler.subjects" -}}
- kind: ServiceAccount
  name: {{ include "autoscaler.serviceAccountName" . }}
  namespace: {{ .Release.Namespace }}
{{- end }}

{{- define "autoscaler.image" -}}
{{ printf "%s:%s" .Values.image.repository (default (printf "v%s" .Chart.AppVersion) .Values.image.tag) | quote }}
{{- end }}

{{/* The controllers that are switched on, as the flag takes them. */}}
{{- define "autoscaler.controllers" -}}
{{- $names := list }}
{{- range $name, $controller := .Values.controllers }}
{{- if $controller.enabled }}{{ $names = append $names $name }}{{ end }}
{{- end }}
{{- join "," $names }}
{{- end }}

{{/* What the webhook is reached and its certificate is kept under. */}}
{{- define "autoscaler.webhookName" -}}
{{ printf "%s-webhook" (include "autoscaler.fullname" . | trunc 55 | trimSuffix "-") }}
{{- end }}

{{- define "autoscaler.webhookSecret" -}}
{{ default (include "autoscaler.webhookName" .) .Values.webhook.existingSecret }}
{{- end }}
