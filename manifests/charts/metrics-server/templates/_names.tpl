{{/* The chart's name as label values and resource names may be. */}}
{{- define "metrics-server.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* What everything in the release is called: the release's name alone if that has the chart's in it. */}}
{{- define "metrics-server.fullname" -}}
{{- $name := include "metrics-server.name" . }}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) }}
{{- default $full .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* Where the release's objects are: its namespace, unless the values name another. */}}
{{- define "metrics-server.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride }}
{{- end }}

{{- define "metrics-server.serviceAccountName" -}}
{{- $made := ternary (include "metrics-server.fullname" .) "default" .Values.serviceAccount.create }}
{{- default $made .Values.serviceAccount.name }}
{{- end }}

{{/* tls.type. Like other values that releases of earlier charts lack, it may be absent when helm upgrade reuses their values. */}}
{{- define "metrics-server.tlsType" -}}
{{- (default dict .Values.tls).type | default "metrics-server" }}
{{- end }}

{{/* The Secret with the serving certificate; empty where the server makes its own. */}}
{{- define "metrics-server.certificateSecret" -}}
{{- $type := include "metrics-server.tlsType" . }}
{{- if eq $type "existingSecret" }}
{{- required "tls.existingSecret.name must name a Secret when tls.type is existingSecret" .Values.tls.existingSecret.name }}
{{- else if has $type (list "helm" "cert-manager") }}
{{- include "metrics-server.fullname" . }}
{{- end }}
{{- end }}

{{/* The names by which the API server and others in the cluster know the Service, as a JSON list. */}}
{{- define "metrics-server.serviceNames" -}}
{{- $name := printf "%s.%s" (include "metrics-server.fullname" .) (include "metrics-server.namespace" .) }}
{{- list $name (printf "%s.svc" $name) (printf "%s.svc.%s" $name .Values.tls.clusterDomain) | toJson }}
{{- end }}

{{- define "metrics-server.image" -}}
{{ printf "%s:%s" .Values.image.repository (default (printf "v%s" .Chart.AppVersion) .Values.image.tag) | quote }}
{{- end }}
