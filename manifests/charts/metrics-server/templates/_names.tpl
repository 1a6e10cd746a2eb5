{{/* The name of the chart, within the length of a label value. */}}
{{- define "metrics-server.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The name of the objects of the release: RELEASE-CHART, or RELEASE if it contains the name of the chart. */}}
{{- define "metrics-server.fullname" -}}
{{- $name := include "metrics-server.name" . }}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) }}
{{- default $full .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The namespace of the objects: that of the release, unless namespaceOverride is set. */}}
{{- define "metrics-server.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride }}
{{- end }}

{{- define "metrics-server.serviceAccountName" -}}
{{- $made := ternary (include "metrics-server.fullname" .) "default" .Values.serviceAccount.create }}
{{- default $made .Values.serviceAccount.name }}
{{- end }}

{{/* The value tls.type. Values that an earlier chart does not have, such as this one, are absent after helm upgrade --reuse-values. */}}
{{- define "metrics-server.tlsType" -}}
{{- (default dict .Values.tls).type | default "metrics-server" }}
{{- end }}

{{/* The name of the Secret with the serving certificate; empty if the server creates its own certificate. */}}
{{- define "metrics-server.certificateSecret" -}}
{{- $type := include "metrics-server.tlsType" . }}
{{- if eq $type "existingSecret" }}
{{- required "tls.existingSecret.name must name a Secret when tls.type is existingSecret" .Values.tls.existingSecret.name }}
{{- else if has $type (list "helm" "cert-manager") }}
{{- include "metrics-server.fullname" . }}
{{- end }}
{{- end }}

{{/* The DNS names of the Service in the cluster, as a JSON list. */}}
{{- define "metrics-server.serviceNames" -}}
{{- $name := printf "%s.%s" (include "metrics-server.fullname" .) (include "metrics-server.namespace" .) }}
{{- list $name (printf "%s.svc" $name) (printf "%s.svc.%s" $name .Values.tls.clusterDomain) | toJson }}
{{- end }}

{{- define "metrics-server.image" -}}
{{ printf "%s:%s" .Values.image.repository (default (printf "v%s" .Chart.AppVersion) .Values.image.tag) | quote }}
{{- end }}
