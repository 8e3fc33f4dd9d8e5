{{/* What objects are called. Short enough that a StatefulSet's pods can be named after it. */}}
{{- define "signalbox.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 30 | trimSuffix "-" -}}
{{- end -}}

{{/* A name that is cut ends with a hash of the whole, so that two that begin alike stay two. */}}
{{- define "signalbox.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- $release := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- $whole := default $release .Values.fullnameOverride -}}
{{- if gt (len $whole) 36 -}}
  {{- printf "%s-%s" (trunc 29 $whole | trimSuffix "-") (sha256sum $whole | trunc 6) -}}
{{- else -}}
  {{- trimSuffix "-" $whole -}}
{{- end -}}
{{- end -}}

{{/* What tells the pods that serve from all others. */}}
{{- define "signalbox.selector" -}}
app.kubernetes.io/name: {{ include "signalbox.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{/* Labels of every object but pods. */}}
{{- define "signalbox.labels" -}}
{{ include "signalbox.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | quote }}
{{- end -}}

{{/* The metadata of an object: (dict "root" $ "name" NAME "component" NAME "labels" MAP "annotations" MAP). */}}
{{- define "signalbox.metadata" -}}
{{- $labels := merge (dict) (.labels | default dict) .root.Values.commonLabels (include "signalbox.labels" .root | fromYaml) -}}
{{- with .component }}{{ $_ := set $labels "app.kubernetes.io/component" . }}{{ end -}}
name: {{ .name | quote }}
namespace: {{ .root.Release.Namespace | quote }}
labels:
  {{- toYaml $labels | nindent 2 }}
{{- with merge (dict) (.annotations | default dict) .root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The pods that have a role, whichever deployment they are of: (dict "root" $ "role" ROLE). */}}
{{- define "signalbox.roleSelector" -}}
{{ include "signalbox.selector" .root }}
role.signalbox/{{ .role }}: "true"
{{- end -}}

{{- define "signalbox.serviceAccountName" -}}
{{- $made := ternary (include "signalbox.fullname" .) "default" .Values.serviceAccount.create -}}
{{- default $made .Values.serviceAccount.name -}}
{{- end -}}

{{/* That of the migrations. One that the chart makes is not there yet before the first installation, so they have a copy. */}}
{{- define "signalbox.migrationsAccountName" -}}
{{- $account := include "signalbox.serviceAccountName" . -}}
{{- if .Values.serviceAccount.create }}{{ include "signalbox.migrationsName" . }}{{ else }}{{ $account }}{{ end -}}
{{- end -}}

{{- define "signalbox.migrationsName" -}}
{{ include "signalbox.fullname" . }}-migrate
{{- end -}}

{{- define "signalbox.configName" -}}
{{ include "signalbox.fullname" . }}-config
{{- end -}}

{{- define "signalbox.image" -}}
{{- with .Values.image -}}
{{- with .registry }}{{ . }}/{{ end }}{{ .repository -}}
{{- if .digest }}@{{ .digest }}{{ else }}:{{ default $.Chart.AppVersion .tag }}{{ end -}}
{{- end -}}
{{- end -}}
