{{/* What every container of Signalbox may do: nothing but run. The restricted profile takes it. */}}
{{- define "signalbox.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{- define "signalbox.podSecurityContext" -}}
runAsNonRoot: true
{{- range $field := list "runAsUser" "runAsGroup" "fsGroup" }}
{{- with get $.Values.podSecurityContext $field }}
{{ $field }}: {{ . }}
{{- end }}
{{- end }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{/* What services and migrations have in common: (dict "root" $ "pod" VALUES "account" NAME). */}}
{{- define "signalbox.podBase" -}}
serviceAccountName: {{ .account | quote }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- include "signalbox.podSecurityContext" .root | nindent 2 }}
{{- with .pod.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- range $field := list "nodeSelector" "tolerations" "affinity" "hostAliases" }}
{{- with get $.pod $field }}
{{ $field }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- with .pod.extraInitContainers }}
initContainers:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Mounts that services and migrations have in common: (dict "root" $ "pod" VALUES "needs" LIST). */}}
{{- define "signalbox.mounts" -}}
- {name: config, mountPath: /etc/signalbox, readOnly: true}
- {name: data, mountPath: /var/lib/signalbox}
- {name: tmp, mountPath: /tmp}
{{- range include "signalbox.files" . | fromYamlArray }}
- {name: {{ .name | quote }}, mountPath: {{ .path }}, readOnly: true}
{{- end }}
{{- with .pod.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Their volumes, but `data`: (dict "root" $ "pod" VALUES "needs" LIST "config" NAME). */}}
{{- define "signalbox.volumes" -}}
- name: config
  configMap: {name: {{ .config | quote }}}
- name: tmp
  emptyDir: {sizeLimit: 64Mi}
{{- range include "signalbox.files" . | fromYamlArray }}
- name: {{ .name }}
  {{- toYaml .source | nindent 2 }}
{{- end }}
{{- with .pod.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The pod of a deployment: (dict "root" $ "plan" PLAN "name" NAME "deployment" VALUES). */}}
{{- define "signalbox.pod" -}}
{{- $values := .root.Values -}}
{{- $deployment := .deployment -}}
{{- $config := include "signalbox.config" . | fromJson -}}
{{- $needs := include "signalbox.needs" $deployment.roles | fromJsonArray -}}
metadata:
  labels:
    {{- $labels := merge (dict) $deployment.podLabels $values.commonLabels (include "signalbox.selector" .root | fromYaml) }}
    {{- $_ := set $labels "app.kubernetes.io/component" .name }}
    {{- range $deployment.roles }}{{ $_ := set $labels (printf "role.signalbox/%s" .) "true" }}{{ end }}
    {{- toYaml $labels | nindent 4 }}
  annotations:
    {{- $annotations := merge (dict) $deployment.podAnnotations $values.commonAnnotations }}
    {{- $_ := set $annotations "checksum/config" (include "signalbox.startChecksum" (dict "config" $config)) }}
    {{- toYaml $annotations | nindent 4 }}
spec:
  {{- include "signalbox.podBase" (dict "root" .root "pod" $deployment "account" (include "signalbox.serviceAccountName" .root)) | nindent 2 }}
  terminationGracePeriodSeconds: {{ add $values.shutdown.preStopSeconds $values.shutdown.longestStreamSeconds $values.shutdown.marginSeconds }}
  {{- with $deployment.topologySpread }}
  topologySpreadConstraints:
    {{- range . }}
    - {{ toYaml . | nindent 6 | trim }}
      {{- if not .labelSelector }}
      labelSelector:
        matchLabels:
          {{- include "signalbox.selector" $.root | nindent 10 }}
          app.kubernetes.io/component: {{ $.name | quote }}
      {{- end }}
    {{- end }}
  {{- end }}
  containers:
    - name: signalbox
      image: {{ include "signalbox.image" .root | quote }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      command: [signalbox]
      args:
        - serve
        - --role={{ join "," $deployment.roles }}
        - --config=/etc/signalbox/signalbox.yaml
      env:
        {{- include "signalbox.env" (dict "root" .root "needs" $needs "extraEnv" $deployment.extraEnv) | nindent 8 }}
      {{- with $deployment.extraEnvFrom }}
      envFrom:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        - {name: grpc, containerPort: 50051}
        {{- if $values.mtls.enabled }}
        - {name: internal, containerPort: 50052}
        {{- end }}
        - {name: health, containerPort: 50053}
        - {name: metrics, containerPort: 9464}
      startupProbe:
        httpGet: {path: /livez, port: metrics}
        {{- toYaml $values.probes.startup | nindent 8 }}
      livenessProbe:
        httpGet: {path: /livez, port: metrics}
        {{- toYaml $values.probes.liveness | nindent 8 }}
      readinessProbe:
        grpc: {port: 50053}
        {{- toYaml $values.probes.readiness | nindent 8 }}
      {{- with $values.shutdown.preStopSeconds }}
      lifecycle:
        preStop: {sleep: {seconds: {{ . }}}}
      {{- end }}
      resources:
        {{- $kept := ternary (include "signalbox.dataSize" . | include "signalbox.bytes") "0" (eq $deployment.kind "Deployment") }}
        {{- include "signalbox.resources" (dict "resources" $deployment.resources "kept" $kept) | nindent 8 }}
      securityContext:
        {{- include "signalbox.securityContext" . | nindent 8 }}
      volumeMounts:
        {{- include "signalbox.mounts" (dict "root" .root "pod" $deployment "needs" $needs) | nindent 8 }}
        {{- if $values.mtls.enabled }}
        - {name: mtls, mountPath: /etc/signalbox-mtls, readOnly: true}
        {{- end }}
        {{- if $values.server.tls.existingSecret.name }}
        - {name: tls, mountPath: /etc/signalbox-tls, readOnly: true}
        {{- end }}
  volumes:
    {{- include "signalbox.volumes" (dict "root" .root "pod" $deployment "needs" $needs "config" (include "signalbox.configName" .root)) | nindent 4 }}
    {{- if eq $deployment.kind "Deployment" }}
    - name: data
      emptyDir: {sizeLimit: {{ include "signalbox.dataSize" . | quote }}}
    {{- end }}
    {{- if $values.mtls.enabled }}
    - name: mtls
      secret: {secretName: {{ include "signalbox.mtlsSecret" $deployment | quote }}, defaultMode: 0440}
    {{- end }}
    {{- with $values.server.tls.existingSecret.name }}
    - name: tls
      secret: {secretName: {{ . | quote }}, defaultMode: 0440}
    {{- end }}
{{- end -}}

{{/* Where a deployment's certificate is. */}}
{{- define "signalbox.mtlsSecret" -}}
{{ default (printf "%s-mtls" .fullname) .mtls.existingSecret.name }}
{{- end -}}
