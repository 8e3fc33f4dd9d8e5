{{/* What objects are called. Short enough that a StatefulSet's pods can be named after it. */}}
{{- define "signalbox.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 30 | trimSuffix "-" -}}
{{- end -}}

{{- define "signalbox.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- $release := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $release .Values.fullnameOverride | trunc 36 | trimSuffix "-" -}}
{{- end -}}

{{/* What tells the pods that serve from all others. */}}
{{- define "signalbox.selector" -}}
app.kubernetes.io/name: {{ include "signalbox.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Labels of every object but pods. */}}
{{- define "signalbox.labels" -}}
{{ include "signalbox.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The metadata of an object: (dict "root" $ "name" NAME "component" NAME "labels" MAP "annotations" MAP). */}}
{{- define "signalbox.metadata" -}}
name: {{ .name }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "signalbox.labels" .root | nindent 2 }}
  {{- with .component }}
  app.kubernetes.io/component: {{ . }}
  {{- end }}
  {{- with .labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
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
